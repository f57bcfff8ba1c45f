"""The table of rules, and the one way to make a problem."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import Severity
from market.pack.rules import NOT_PORTABLE, RULES, make_problem


def test_every_rule_says_why_and_what_to_do() -> None:
    for rule in RULES.values():
        assert rule.id == rule.id.lower().replace("_", "-")
        assert len(rule.sentence) > 10
        assert rule.fix
        assert not rule.sentence.endswith(".")


def test_what_is_not_portable_is_a_refusal() -> None:
    assert all(RULES[rule].severity is Severity.REFUSAL for rule in NOT_PORTABLE)


def test_the_finder_may_say_more_than_the_table() -> None:
    problem = make_problem("class-missing", "text", "skill.json", (2, 3), fix="better")
    assert (problem.severity, problem.place, problem.fix) == (Severity.REFUSAL, "skill.json:2:3", "better")
    assert problem.reason == RULES["class-missing"].sentence


def test_an_unknown_rule_is_a_bug() -> None:
    with pytest.raises(KeyError):
        make_problem("no-such-rule", "text")


@given(st.text())
def test_a_pack_cannot_write_control_sequences_to_a_terminal(text: str) -> None:
    problem = make_problem("field-type", text, text, fix=text or "x")
    assert all(part.isprintable() for part in (problem.text, problem.file, problem.fix, problem.reason))
    problem.text.encode()
