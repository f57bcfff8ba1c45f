"""What a text does behind its reader's back: characters that nobody sees and a model reads, and downloads that are run unseen.

Evidence with a place, never a proof that a pack is good: what is written in plain words isn't found here.
"""

from __future__ import annotations

import heapq
import re
from itertools import islice
from typing import TYPE_CHECKING

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem

MAX_UNSEEN_TOLD = 5  # of one file and rule
SHOWN_CHARACTERS = 80

# Tags spell ASCII that is never drawn ("ASCII smuggling"); only a flag's region may be written so, behind a black flag. Joiners and
# selectors shape emoji and scripts one by one; in a row they carry bits.
_HIDDEN = re.compile(
    r"(?P<flag>\U0001f3f4[\U000e0020-\U000e007f]{1,8})|[\U000e0000-\U000e007f]+"
    r"|[\u200b-\u200f\u2060-\u2064\ufeff\u180e]{8,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}"
)
# "Trojan Source" (CVE-2021-42574): what is shown is in another order than what is read.
_REORDERED = re.compile("[\u202a-\u202e\u2066-\u2069][^\n]*")
_HIDDEN_BYTES = (
    b"\xf3\xa0",
    b"\xe2\x80\x8b",
    b"\xe2\x80\x8c",
    b"\xe2\x80\x8d",
    b"\xe2\x81\xa0",
    b"\xef\xb8",
    b"\xef\xbb\xbf",
)
_REORDERED_BYTES = (b"\xe2\x80", b"\xe2\x81")

# What fetches or unpacks, in small letters: only around these the form is tried, since it would cost a second in a large script.
_FETCHING = (b"curl", b"wget", b"iwr ", b"irm ", b"invoke-webrequest", b"invoke-restmethod", b"base64 ")
_BEFORE_BYTES = 80
_AFTER_BYTES = 400
_FETCH = r"(?:\bcurl\b|\bwget\b|\biwr\b|\birm\b|invoke-webrequest|invoke-restmethod)"
# With a program of its own on the command line, an interpreter takes what was fetched as its input.
_INTERPRETER = r"(?:python[\d.]*|node|perl|ruby)(?!\s+-{1,2}(?:c|e|m|n|p|pe|ne|eval)\b)"
_SHELL = (
    r"(?:(?:sudo|env)\s+(?:-\S+\s+)*)?(?:/(?:usr/)?bin/)?"
    rf"(?:(?:(?:ba|z|da|k|fi)?sh|iex|invoke-expression|{_INTERPRETER})\b)"
)
_RUN = re.compile(
    (
        rf"{_FETCH}[^|]*\|\s*{_SHELL}"
        rf"|{_SHELL}\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*{_FETCH}.*"
        rf"|\bbase64\s+(?:-d|-D|--decode)\b[^|]*\|\s*{_SHELL}"
    ).encode(),
    re.IGNORECASE,
)


def find_unseen(data: bytes, file: str) -> Iterator[Problem]:
    """Yield a problem for each place in a text where something is hidden, reordered, or run without having been seen."""
    if b"\0" in data:
        return
    yield from islice(_find_hidden(data, file), MAX_UNSEEN_TOLD)
    yield from islice(_find_reordered(data, file), MAX_UNSEEN_TOLD)
    yield from islice(_find_run(data, file), MAX_UNSEEN_TOLD)


def _find_hidden(data: bytes, file: str) -> Iterator[Problem]:
    if any(literal in data for literal in _HIDDEN_BYTES):
        text = data.decode("utf-8", "replace")
        for match in _HIDDEN.finditer(text):
            if not match["flag"]:
                yield make_problem("hidden-text", _say_hidden(match[0]), file, _place(text, match.start()))


def _find_reordered(data: bytes, file: str) -> Iterator[Problem]:
    if any(literal in data for literal in _REORDERED_BYTES):
        text = data.decode("utf-8", "replace")
        for match in _REORDERED.finditer(text):
            said = f"U+{ord(match[0][0]):04X} changes the order in which the line is shown"
            yield make_problem("text-reordered", said, file, _place(text, match.start()))


def _find_run(data: bytes, file: str) -> Iterator[Problem]:
    small, told = data.lower(), 0
    for start in heapq.merge(*(_occurrences(small, literal) for literal in _FETCHING)):
        if start < told:
            continue
        first = max(small.rfind(b"\n", 0, start) + 1, start - _BEFORE_BYTES, told)
        end = small.find(b"\n", start)
        match = _RUN.search(data, first, min(end if end >= 0 else len(data), start + _AFTER_BYTES))
        if match:
            told = match.end()
            shown = " ".join(match[0].decode("utf-8", "replace").split())[:SHOWN_CHARACTERS]
            line = data.rfind(b"\n", 0, match.start()) + 1
            column = len(data[line : match.start()].decode("utf-8", "replace")) + 1
            place = (data.count(b"\n", 0, line) + 1, column)
            yield make_problem("download-run", f"it runs what it has just fetched: {shown}", file, place)


def _occurrences(data: bytes, literal: bytes) -> Iterator[int]:
    at = data.find(literal)
    while at >= 0:
        yield at
        at = data.find(literal, at + 1)


def _place(text: str, start: int) -> tuple[int, int]:
    return text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)


def _say_hidden(found: str) -> str:
    spelt = "".join(chr(ord(one) - 0xE0000) for one in found if 0xE0020 <= ord(one) <= 0xE007E)
    told = f"{len(found)} characters that nobody sees"
    return f"{told}; they spell {spelt[:SHOWN_CHARACTERS]!r}" if spelt else f"{told} stand in a row"
