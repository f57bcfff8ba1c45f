"""The four lines of the loader, character by character, and the warning about a missing class."""

from __future__ import annotations

import logging
from dataclasses import replace

from market.model import State
from market.registry.findings import code_fails
from market.registry.log_lines import duplicate_line, escape_cause, format_events, parse_line
from market.registry.reconcile import reconcile
from market.registry.snapshot import Snapshot
from market.registry.unit import Dropped, LoadedUnit
from tests.registry.units import ROOTS, a_command, a_guide, a_unit

EMPTY = Snapshot(ROOTS)


def lines(*units: LoadedUnit, before: Snapshot = EMPTY) -> list[tuple[int, str]]:
    return format_events(reconcile(before, {unit.unit: unit for unit in units}).events)


def test_a18_registered() -> None:
    assert lines(a_unit("disk-cleaner", a_command("disk_cleaner"))) == [
        (logging.INFO, 'skill loader: registered subprocess skill "disk_cleaner" from /first/disk-cleaner/skill.json')
    ]


def test_a18_already_registered() -> None:
    assert lines(a_unit("a", a_command("echo")), a_unit("b", a_command("echo", folder="sub")))[1] == (
        logging.WARNING,
        'skill loader: skill "echo" already registered, skipping /first/b/sub/skill.json',
    )


def test_a18_parse() -> None:
    unit = a_unit("a", dropped=(Dropped("/first/a/skill.json", "", "line 2:\n  no comma"),))
    assert lines(unit) == [(logging.WARNING, "skill loader: parse /first/a/skill.json: line 2: no comma")]


def test_a18_build() -> None:
    unit = a_unit("a", dropped=(Dropped("/first/a/skill.json", "echo", "no entry"),))
    assert lines(unit) == [(logging.WARNING, 'skill loader: build "echo": no entry')]


def test_a_skill_whose_code_fails_is_not_said_to_be_registered() -> None:
    unit = a_unit("a", a_command("echo"), state=State.INVALID)
    broken = replace(unit, skills=(replace(unit.skills[0], problems=(code_fails("it exited with code 3"),)),))
    assert lines(broken) == [(logging.WARNING, 'skill loader: build "echo": its code can\'t be used: it exited with code 3')]


def test_a14_wording_of_an_escape() -> None:
    assert escape_cause("../../bin/sh", "/first") == "entry ../../bin/sh escapes allowlist root /first"


def test_a8_warning_beside_the_registration() -> None:
    assert lines(a_unit("a", a_command("echo"), classless=True))[1] == (
        logging.WARNING,
        'skill loader: skill "echo" has no class and is loaded as safe: /first/a/skill.json',
    )


def test_a_guide_that_loads_has_no_line_and_one_that_doesn_t_has() -> None:
    assert lines(a_unit("a", a_guide(), dropped=(Dropped("/first/a/x/SKILL.md", "", "no description"),))) == [
        (logging.WARNING, "skill loader: parse /first/a/x/SKILL.md: no description")
    ]


def test_a_cause_of_many_lines_stays_one_log_line() -> None:
    assert "\n" not in parse_line("/x", "a\nb\r\n\tc")
    assert duplicate_line("n", "/x") == 'skill loader: skill "n" already registered, skipping /x'
