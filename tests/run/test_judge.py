"""From what a process did to the words for it."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from market.model import OutcomeKind
from market.run.judge import judge_result
from market.run.supervision import Result


def a_result(**changes: Any) -> Result:
    """A process that ended well and printed `{}`."""
    fields: dict[str, Any] = {
        "failure": 0,
        "timed_out": False,
        "cancelled": False,
        "code": 0,
        "stdout": b"{}",
        "stdout_total": 2,
        "stderr": b"",
        "stderr_total": 0,
        "seconds": 0.25,
        "survivors": False,
        **changes,
    }
    return Result(**fields)


def test_a_good_result_has_its_duration_and_code() -> None:
    outcome = judge_result(a_result(), 30)
    assert (outcome.kind, outcome.result, outcome.duration_ms, outcome.exit_code) == (OutcomeKind.OK, {}, 250.0, 0)


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (signal.SIGKILL, "was killed by SIGKILL; perhaps the machine ran out of memory"),
        (signal.SIGXFSZ, "was killed by SIGXFSZ; a file that it wrote grew beyond 4 GiB"),
        (60, "was killed by signal 60"),
    ],
)
def test_signals_are_named_with_their_likely_cause(number: int, sentence: str) -> None:
    assert judge_result(a_result(code=-number), 30).error == sentence


def test_a_timeout_wins_over_what_was_printed() -> None:
    outcome = judge_result(a_result(timed_out=True), 1.5)
    assert (outcome.kind, outcome.error, outcome.result) == (OutcomeKind.TIMEOUT, "timed out after 1.5 s", None)


def test_an_exit_code_wins_over_a_result_that_is_too_large() -> None:
    assert judge_result(a_result(code=2, stdout_total=1 << 30), 30).error == "exited with code 2"


def test_stderr_that_is_not_utf8_is_shown_as_well_as_it_goes() -> None:
    assert judge_result(a_result(stderr=b"a\xffb", stderr_total=3), 30).stderr == "a\ufffdb"


def test_survivors_are_reported_even_on_success() -> None:
    outcome = judge_result(a_result(survivors=True), 30)
    assert (outcome.kind, outcome.error) == (OutcomeKind.OK, "some of its processes could not be killed")
