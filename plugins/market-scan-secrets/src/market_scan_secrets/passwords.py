"""Passwords that were written out: in an address, or given to a name that says what it is. Tokens are found by `market.pack.secrets`.

A value is never shown. What a reader would take for an example, a variable or a placeholder is passed over.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from market.errors import Problem, Severity
from market.pack.scan_limits import ScanBudget
from market.pack.text import find_byte_place

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FINDINGS_OF_A_FILE = 20
MIN_DISTINCT = 6  # characters in a password: a made-up one repeats itself

_ADDRESS = "a password in an address"
_WRITTEN_OUT = "a password that is written out"
_NAMES = ("password", "passwd", "secret_key", "client_secret")


def _make_assignment(name: str) -> re.Pattern[bytes]:
    return re.compile(rf"{name}(?<![a-z0-9]{name})\s*+=\s*+[\"'](?P<secret>[^\s\"']{{8,128}})[\"']".encode())


# Read in small letters. The literal comes first: `re` jumps from one to the next, and passes a file once, whatever is in it.
_SHAPES = (
    (_ADDRESS, re.compile(rb"://(?<=[a-z0-9+.-]{2}://)[^\s:/@\"'<>]{1,64}:(?P<secret>[^\s:/@\"'<>]{6,128})@")),
    *((_WRITTEN_OUT, _make_assignment(name)) for name in _NAMES),
)
_PLACEHOLDER = re.compile(
    rb"(?i)example|sample|placeholder|dummy|fake|your|redacted|test|changeme|password|secret|xxx|\.\.\.|123456|[$%]?[{<(\[]|^[$%]"
)


def find_passwords(data: bytes, file: str, budget: ScanBudget | None = None) -> Iterator[Problem]:
    """Yield a problem for each password in a file, with its line and column. `budget` is what remains of the pack's."""
    yield from islice(_find_passwords(data, file, budget or ScanBudget()), MAX_FINDINGS_OF_A_FILE)


def _find_passwords(data: bytes, file: str, budget: ScanBudget) -> Iterator[Problem]:
    small = data.lower()
    for name, pattern in _SHAPES:
        for match in pattern.finditer(small):
            if not budget.try_one():
                return
            start, end = match.span("secret")
            if not _is_made_up(data[start:end]):
                yield _problem(name, data, start, end - start, file)


def _is_made_up(secret: bytes) -> bool:
    return len(set(secret)) < MIN_DISTINCT or _PLACEHOLDER.search(secret) is not None


def _problem(name: str, data: bytes, start: int, length: int, file: str) -> Problem:
    line, column = find_byte_place(data, start)
    reason = "whoever gets the pack gets the password"
    return Problem("password", Severity.REFUSAL, f"{name} ({length} characters)", file, line, column, reason)
