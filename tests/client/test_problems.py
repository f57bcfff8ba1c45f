from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.client.problems import parse_problems, parse_refusal
from market.client.wire import dump_problem
from market.errors import MarketError, Problem, Severity, Unauthenticated, Unavailable


def test_problems_survive_the_wire() -> None:
    problem = Problem("class-missing", Severity.REFUSAL, "no class", "skill.json", 1, 2, "why", "fix")
    assert parse_problems(json.loads(json.dumps([dump_problem(problem)]))) == (problem,)


@pytest.mark.parametrize("rows", [None, {}, "x", 7])
def test_problems_of_another_shape_are_none(rows: object) -> None:
    assert parse_problems(rows) == ()


def test_a_row_of_another_shape_is_kept_as_a_warning() -> None:
    (odd, mixed) = parse_problems(["odd", {"severity": "doom", "line": True, "text": 5}])
    assert (odd.severity, odd.text) == (Severity.WARNING, "odd")
    assert (mixed.severity, mixed.line, mixed.text) == (Severity.WARNING, 0, "")


def test_a_word_of_a_newer_server_still_tells_its_sentence() -> None:
    error = parse_refusal(503, b'{"code": "on-fire", "detail": "the store burns", "hint": "wait"}', "the index")
    assert type(error) is Unavailable and error.message == "the store burns" and error.hint == "wait"


def test_a_missing_token_says_how_to_give_one() -> None:
    error = parse_refusal(401, b'{"code": "unauthenticated", "detail": "no token"}', "the index")
    assert type(error) is Unauthenticated and "market login" in error.hint


@given(st.integers(400, 599), st.binary(max_size=200))
def test_any_body_becomes_an_error_with_a_sentence(status: int, body: bytes) -> None:
    error = parse_refusal(status, body, "the index at http://x")
    assert isinstance(error, MarketError) and error.message and error.hint
