"""How values are written for people: sizes, counts, tables, and text that came from elsewhere made harmless. Pure."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from market.errors import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from market.errors import Problem

_KILO = 1000
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")


def printable(text: str) -> str:
    r"""Return a text with control and direction characters escaped: a pack's or a server's words must not steer the terminal.

    >>> printable("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if _is_harmless(character) else character.encode("unicode_escape").decode() for character in text
    )


def size_text(size: int) -> str:
    """Return a number of bytes as people say it.

    >>> size_text(12_300)
    '12 kB'
    """
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < _KILO:
            return f"{value:.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
        value /= _KILO
    return f"{value:.1f} GB"


def count_text(count: int, noun: str) -> str:
    """Return `1 file`, `2 files`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def table_lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows as aligned columns under a head; wide characters count double."""
    cells = [tuple(head), *(tuple(printable(cell) for cell in row) for row in rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(head))]
    return ["  ".join(_pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def shorten(text: str, limit: int = 100) -> str:
    """Return the first line of a text, cut at `limit` characters with a mark that says so."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def change_lines(changes: tuple[Problem, ...]) -> list[str]:
    """Return one line for each thing that was changed."""
    return [f"  changed: {change.text} ({change.reason})" for change in changes]


def doubt_lines(problems: Iterable[Problem]) -> list[str]:
    """Return one line for each problem that no index takes, of a pack that may be installed: it may load otherwise than it was meant."""
    return [
        f"  warning: {problem.place}: {problem.text} ({problem.reason})"
        for problem in problems
        if problem.severity is Severity.REFUSAL
    ]


def _is_harmless(character: str) -> bool:
    return character in "\n\t" or (unicodedata.category(character) not in ("Cc", "Cs") and character not in _BIDI)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - _width(text))
