"""What comes from a plugin has fields of the right types, or is refused with the field's name."""

from __future__ import annotations

from typing import Any

import pytest

from market.errors import Problem, Severity
from market.model import Outcome, OutcomeKind
from market.plugins.values import Unfit, hold_decision, hold_outcome, hold_problem
from market.trust.decision import Decision

GOOD: dict[str, Any] = {"rule": "r", "severity": Severity.ERROR, "text": "t", "file": "f", "line": 1, "column": 2, "reason": "w", "fix": "d"}


def test_a_good_finding_is_kept_and_a_word_becomes_the_severity() -> None:
    assert hold_problem(Problem(**GOOD)) == Problem(**GOOD)
    assert hold_problem(Problem(**{**GOOD, "severity": "warning"})).severity is Severity.WARNING


def test_half_a_character_can_be_written_afterwards() -> None:
    assert hold_problem(Problem(**{**GOOD, "file": "a\udc80é"})).file == "a\\udc80é"


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("value", [None, b"x", 1.5, ["x"], True, -1, "bad"])
def test_a_wrong_field_is_named(name: str, value: Any) -> None:
    if value == "bad" and name not in ("severity", "line", "column"):
        return
    with pytest.raises(Unfit, match=f"^a Problem whose {name} is "):
        hold_problem(Problem(**{**GOOD, name: value}))


@pytest.mark.parametrize("value", [True, Decision("no", "x"), Decision(0, "x"), Decision(True, None), "no"])  # type: ignore[arg-type]
def test_a_decision_is_a_bool_and_a_reason(value: object) -> None:
    assert hold_decision(None) is None
    assert hold_decision(Decision(False, "x")) == Decision(False, "x")
    with pytest.raises(Unfit):
        hold_decision(value)


def test_an_outcomes_result_gets_its_text() -> None:
    assert hold_outcome(Outcome(OutcomeKind.OK, {"a": "é"})).result_text == '{"a": "é"}'
    assert hold_outcome(Outcome(OutcomeKind.OK, 1, "1.0")).result_text == "1.0"
    assert hold_outcome(Outcome("failed", error="x")) == Outcome(OutcomeKind.FAILED, error="x")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"kind": "fine"}, "kind is 'fine'"),
        ({"result": {1, 2}}, "result is not JSON"),
        ({"result": float("nan")}, "result is not JSON"),
        ({"result": "\ud800"}, "result is not JSON"),
        ({"result_text": b"1"}, "result_text is bytes, not str"),
        ({"error": None}, "error is NoneType, not str"),
        ({"stderr": b""}, "stderr is bytes, not str"),
        ({"duration_ms": "1"}, "duration_ms is '1', not int or float"),
        ({"truncated": 1}, "truncated is 1, not bool"),
        ({"exit_code": "0"}, "exit_code is '0', not int"),
    ],
)
def test_a_wrong_field_of_an_outcome_is_named(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(Unfit, match=f"^an Outcome whose {what}"):
        hold_outcome(Outcome(**{"kind": OutcomeKind.OK, **changes}))
