from __future__ import annotations

import inspect

from market import errors
from market.errors import MarketError, Problem, Severity


def test_every_error_has_its_own_slug() -> None:
    tree = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, MarketError)]
    assert len({error.slug for error in tree}) == len(tree)


def test_a_problem_says_where_what_why_and_what_to_do() -> None:
    problem = Problem(
        "json-comment", Severity.ERROR, "a comment", "skill.json", 3, 5, "JSON has no comments", "remove it"
    )
    assert (
        str(problem)
        == "skill.json:3:5: error: a comment [json-comment]\n    why: JSON has no comments\n    fix: remove it"
    )


def test_an_unknown_place_is_left_out() -> None:
    assert Problem("x", Severity.WARNING, "t").place == ""
    assert Problem("x", Severity.WARNING, "t", "a.md").place == "a.md"
    assert str(Problem("x", Severity.WARNING, "t")) == "warning: t [x]"
