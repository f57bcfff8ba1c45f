"""What stops an act is counted in one place, and only a scan of ours that failed is one: no rule's name is enough."""

from __future__ import annotations

import pytest

from market.errors import Problem, Severity
from market.pack.source import MemorySource
from market.plugins.answers import CRASHED, FailedScan
from market.plugins.loaded import load_plugins
from market.plugins.stops import Stop, find_stop
from tests.plugged import a_pack, an_entry
from tests.plugins.test_loaded import Says

WARNING, REFUSAL, ERROR = (Problem("x", severity, "y") for severity in (Severity.WARNING, Severity.REFUSAL, Severity.ERROR))
FAILED = FailedScan("a:crashed", Severity.ERROR, "z")


@pytest.mark.parametrize(
    ("findings", "stop"),
    [
        ([], None),
        ([WARNING, REFUSAL], None),
        ([ERROR], Stop(1, 1, is_failed_scan=False)),
        ([FAILED], Stop(1, 1, is_failed_scan=True)),
        ([FAILED, WARNING, REFUSAL], Stop(1, 3, is_failed_scan=True)),
        ([FAILED, ERROR], Stop(2, 2, is_failed_scan=False)),
    ],
)
def test_findings_of_the_severities_that_stop_are_counted(findings: list[Problem], stop: Stop | None) -> None:
    assert find_stop(findings, (Severity.ERROR,)) == stop


def test_one_finding_and_several_are_put_into_words() -> None:
    assert Stop(1, 1, is_failed_scan=False).why("it") == "its finding stops it"
    assert Stop(1, 2, is_failed_scan=False).why("it") == "1 of 2 findings stop it"
    assert Stop(1, 1, is_failed_scan=False).hint("ask", "correct it") == "correct it"
    assert Stop(1, 1, is_failed_scan=True).hint("ask", "correct it") == "ask; nothing in the pack is known to be wrong"


@pytest.mark.parametrize("given", [Problem(CRASHED, Severity.ERROR, "the pack crashed"), FailedScan("mine", Severity.ERROR, "z")])
def test_a_plugin_can_not_pass_off_what_it_found_as_a_failed_scan(given: Problem) -> None:
    found = load_plugins(entry_points=[an_entry(Says([given]))]).scan_pack(a_pack(), MemorySource({}), "install")
    assert find_stop(found, (Severity.ERROR,)) == Stop(1, 1, is_failed_scan=False)
    crashed = load_plugins(entry_points=[an_entry(Says(ValueError("no")))]).scan_pack(a_pack(), MemorySource({}), "install")
    assert find_stop(crashed, (Severity.ERROR,)) == Stop(1, 1, is_failed_scan=True)
