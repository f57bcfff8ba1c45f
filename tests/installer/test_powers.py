from __future__ import annotations

import pytest

from market.client.wire import SkillSummary
from market.installer.powers import Power, find_widening, powers_of, powers_of_summaries
from market.model import SkillClass
from market.pack.inspect import inspect_pack
from tests.factories import a_skill_json, a_source

SAFE = Power("x", SkillClass.SAFE, "run.sh", ("HOME",))


@pytest.mark.parametrize(
    ("new", "kinds"),
    [
        (SAFE, []),
        (Power("x", SkillClass.SAFE, "run.sh"), []),
        (Power("x", SkillClass.DANGEROUS, "run.sh", ("HOME",)), ["class"]),
        (Power("x", SkillClass.SAFE, "run.sh", ("KEY", "HOME")), ["env"]),
        (Power("x", SkillClass.SAFE, "bin/other", ("HOME",)), ["entry"]),
        (Power("y", SkillClass.MUTATING, "run.sh", ("KEY",)), ["class", "env", "entry"]),
        (Power("y", SkillClass.SAFE), []),
    ],
)
def test_what_a_skill_may_do_beyond_what_it_could(new: Power, kinds: list[str]) -> None:
    assert [one.kind for one in find_widening([SAFE], [new])] == kinds


def test_less_than_before_is_no_widening() -> None:
    dangerous = Power("x", SkillClass.DANGEROUS, "run.sh", ("HOME", "KEY"))
    assert find_widening([dangerous], [SAFE]) == ()
    assert find_widening([dangerous], []) == ()


def test_a_manifest_and_an_index_s_document_say_the_same() -> None:
    pack = inspect_pack(a_source({"skill.json": a_skill_json(env_allow=["HOME"]), "run.sh": b"#!/bin/sh\n"})).pack
    assert pack is not None
    summary = SkillSummary("echo_args", "command", "safe", "", entry="run.sh", env_allow=("HOME",))
    assert (
        powers_of(pack.skills)
        == powers_of_summaries([summary])
        == (Power("echo_args", SkillClass.SAFE, "run.sh", ("HOME",)),)
    )


def test_a_class_that_this_market_does_not_know_counts_as_the_highest() -> None:
    assert powers_of_summaries([SkillSummary("x", "command", "apocalyptic", "")])[0].skill_class is SkillClass.DANGEROUS
