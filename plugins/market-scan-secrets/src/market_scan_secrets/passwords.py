"""Passwords that were written out: in an address, or given to a name that says what it is. Tokens are found by `market.pack.secrets`.

A value is never shown. What a reader would take for an example, a variable or a placeholder is passed over.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from market.errors import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FINDINGS_OF_A_FILE = 20
MIN_DISTINCT = 6  # characters in a password: a made-up one repeats itself

# The literal that must be there comes first, so that most files cost one look.
_SHAPES = (
    (
        b"://",
        "a password in an address",
        re.compile(rb"[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{1,64}:(?P<secret>[^\s:/@\"'<>]{6,128})@"),
    ),
    (
        b"=",
        "a password that is written out",
        re.compile(
            rb"(?i)(?<![a-z0-9])(?:password|passwd|secret_key|client_secret)\s*=\s*[\"'](?P<secret>[^\s\"']{8,128})[\"']"
        ),
    ),
)
_PLACEHOLDER = re.compile(
    rb"(?i)example|sample|placeholder|dummy|fake|your|redacted|test|changeme|password|secret|xxx|\.\.\.|123456|[$%]?[{<(\[]|^[$%]"
)


def find_passwords(data: bytes, file: str) -> Iterator[Problem]:
    """Yield a problem for each password in a file, with its line and column."""
    told = 0
    for literal, name, pattern in _SHAPES:
        for match in pattern.finditer(data) if literal in data else ():
            if told < MAX_FINDINGS_OF_A_FILE and not _is_made_up(match["secret"]):
                told += 1
                yield _problem(name, data, match.start("secret"), len(match["secret"]), file)


def _is_made_up(secret: bytes) -> bool:
    return len(set(secret)) < MIN_DISTINCT or _PLACEHOLDER.search(secret) is not None


def _problem(name: str, data: bytes, start: int, length: int, file: str) -> Problem:
    line, before = data.count(b"\n", 0, start) + 1, data[data.rfind(b"\n", 0, start) + 1 : start]
    column = len(before.decode("utf-8", "replace")) + 1
    reason = "whoever gets the pack gets the password"
    return Problem("password", Severity.REFUSAL, f"{name} ({length} characters)", file, line, column, reason)
