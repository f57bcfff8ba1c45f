from __future__ import annotations

import inspect

import pytest

from market import errors
from market.errors import InvalidInput, MarketError, Problem, Severity, naming


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


@pytest.mark.parametrize(
    ("subject", "message", "shown"),
    [
        ("dist/a.whl", "it is damaged", "dist/a.whl: it is damaged"),
        ("dist/a.whl", "a.whl is damaged", "a.whl is damaged"),
        ("./my-pack/", "my-pack is damaged", "my-pack is damaged"),
        ("", "it is damaged", "it is damaged"),
    ],
)
def test_an_error_names_what_it_is_about_once(subject: str, message: str, shown: str) -> None:
    with pytest.raises(InvalidInput) as caught, naming(subject):
        raise InvalidInput(message)
    assert (caught.value.message, str(caught.value)) == (shown, shown)


def test_a_cause_that_a_problem_gives_is_not_the_errors_own() -> None:
    problem = Problem("x", Severity.ERROR, "t", reason="because")
    assert InvalidInput("t", why="because", problems=[problem]).own_why == ""
    assert InvalidInput("t", why="another cause", problems=[problem]).own_why == "another cause"
