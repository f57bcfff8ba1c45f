"""What a plugin gave back, held to the types of its fields, so that everything behind it may rely on them. Pure.

A severity that is only a word, a file that is a path or a decision that is a text would be seen too late otherwise: when a comparison
lets it pass, or when the act is half done and its report can't be written.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from market.errors import MarketError, Problem, Severity
from market.model import Outcome, OutcomeKind
from market.trust.decision import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

Word = TypeVar("Word", bound="StrEnum")

MAX_SHOWN_CHARACTERS = 40
"""Of a value that is wrong."""


class Unfit(Exception):
    """What a plugin is or gave isn't what its hook asks for; the text says what came in its place."""


def hold_problem(value: object) -> Problem:
    """Return a finding with fields of the right types; a severity may be the word. Raises `Unfit`."""
    if not isinstance(value, Problem):
        raise Unfit(f"{type(value).__name__} in place of a Problem")
    return Problem(
        _hold_text(value, "rule"),
        _hold_word(value, "severity", Severity),
        _hold_text(value, "text"),
        _hold_text(value, "file"),
        _hold_place(value, "line"),
        _hold_place(value, "column"),
        _hold_text(value, "reason"),
        _hold_text(value, "fix"),
    )


def hold_decision(value: object) -> Decision | None:
    """Return a decision, or None for silence. Raises `Unfit`: what is no bool could be true without meaning yes."""
    if value is None:
        return None
    if not isinstance(value, Decision):
        raise Unfit(f"{type(value).__name__} in place of a Decision")
    return Decision(_hold(value, "allowed", bool), _hold_text(value, "reason"))


def hold_outcome(value: object) -> Outcome:
    """Return an outcome whose result is JSON; a result without its text gets it. Raises `Unfit`."""
    if not isinstance(value, Outcome):
        raise Unfit(f"{type(value).__name__} in place of an Outcome")
    try:
        dumped = json.dumps(value.result, ensure_ascii=False, allow_nan=False)
        dumped.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Unfit(f"an Outcome whose result is not JSON: {error}") from None
    text = _hold_text(value, "result_text")
    return Outcome(
        _hold_word(value, "kind", OutcomeKind),
        value.result,
        text or ("" if value.result is None else dumped),
        _hold_text(value, "error"),
        float(_hold(value, "duration_ms", int, float)),
        _hold_text(value, "stderr"),
        _hold(value, "truncated", bool),
        None if value.exit_code is None else _hold(value, "exit_code", int),
    )


def check_error(error: MarketError) -> None:
    """Raise `Unfit` for an error of ours, raised by a plugin, that couldn't be shown."""
    for name in ("message", "why", "hint"):
        _hold(error, name, str)
    for problem in error.problems:
        hold_problem(problem)


def _hold(value: object, name: str, *kinds: type[Any]) -> Any:
    found = getattr(value, name)
    # A bool is an int to Python, and no number to a reader.
    if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
        raise Unfit(f"{_whose(value, name)} is {_shown(found)}, not {_words(kind.__name__ for kind in kinds)}")
    return found


def _hold_text(value: object, name: str) -> str:
    """Return a text that can be written as UTF-8: half a character, from a file's name for example, is shown by its number."""
    return str(_hold(value, name, str)).encode("utf-8", "backslashreplace").decode()


def _hold_place(value: object, name: str) -> int:
    number = int(_hold(value, name, int))
    if number < 0:
        raise Unfit(f"{_whose(value, name)} is {number}; it counts from 1, and 0 is the whole file")
    return number


def _hold_word(value: object, name: str, words: type[Word]) -> Word:
    found = getattr(value, name)
    try:
        return words(found)
    except ValueError:
        raise Unfit(f"{_whose(value, name)} is {_shown(found)}; it is {_words(words)}") from None


def _whose(value: object, name: str) -> str:
    return f"{'an' if isinstance(value, Outcome) else 'a'} {type(value).__name__} whose {name}"


def _shown(value: object) -> str:
    return repr(value)[:MAX_SHOWN_CHARACTERS] if isinstance(value, (str, int)) else type(value).__name__


def _words(names: Iterable[str]) -> str:
    return " or ".join(map(str, names))
