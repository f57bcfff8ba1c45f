"""What a text does behind its reader's back: characters that nobody sees and a model reads, and downloads that are run unseen.

Evidence with a place, never a proof that a pack is good: what is written in plain words isn't found here.
"""

from __future__ import annotations

import heapq
import re
from itertools import islice
from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.scan_limits import ScanBudget
from market.pack.text import find_byte_place, find_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem

    # Where something starts and ends.
    _Span = tuple[int, int]

MAX_UNSEEN_TOLD = 5  # of one file and rule
SHOWN_CHARACTERS = 80

# Tags spell ASCII that is never drawn ("ASCII smuggling"); only a flag's region may be written so, behind a black flag. Joiners and
# selectors shape emoji and scripts one by one; in a row they carry bits. Each pattern begins with a set, for which `re` looks fast.
_TAGS = re.compile(
    "[\U000e0000-\U000e007f](?<![\U0001f3f4\U000e0000-\U000e007f].)[\U000e0000-\U000e007f]*"
    "|\U0001f3f4[\U000e0000-\U000e007f]{8}(?P<more>[\U000e0000-\U000e007f]+)"
)
_MARKS = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u180e][\u200b-\u200f\u2060-\u2064\ufeff\u180e]{7,}")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef][\ufe00-\ufe0f\U000e0100-\U000e01ef]{7,}")
# "Trojan Source" (CVE-2021-42574): what is shown is in another order than what is read.
_REORDERED = re.compile("[\u202a-\u202e\u2066-\u2069][^\n]*")
# How they begin in UTF-8, so that most files cost one look.
_HIDDEN_BYTES = (
    b"\xf3\xa0",
    b"\xef\xb8",
    *(mark.encode() for mark in "\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u180e"),
)
_REORDERED_BYTES = (b"\xe2\x80", b"\xe2\x81")

# What fetches or unpacks, in small letters: most files have none of it, and no more is done for them.
_FETCHING = (b"curl", b"wget", b"iwr ", b"irm ", b"invoke-webrequest", b"invoke-restmethod", b"base64 ")
_RUNNING = (b"|", b"(")
_REACH_BYTES = 400  # from what fetches to what runs it
_BEFORE_BYTES = 80
_FETCH = r"(?:\b(?:curl|wget|iwr|irm)\b|invoke-webrequest|invoke-restmethod)"
_SPACE = r"[^\S\n]"
# With a program of its own on the command line, an interpreter takes what was fetched as its input.
_INTERPRETER = rf"(?:python[\d.]*|node|perl|ruby)(?!{_SPACE}++-{{1,2}}(?:c|e|m|n|p|pe|ne|eval)\b)"
# No part reads beyond the next `|`, where the next try begins, and none gives back what it has read (`++`).
_SHELL = (
    rf"(?:(?:sudo|env){_SPACE}++(?:-[^\s|]++{_SPACE}++)*+)?(?:/(?:usr/)?bin/)?"
    rf"(?:(?:(?:ba|z|da|k|fi)?sh|iex|invoke-expression|{_INTERPRETER})\b)"
)
# These two pass a file once, in small letters. What they find is tried with the other two, which look back a bounded way.
_PIPED = re.compile(rf"\|{_SPACE}*+{_SHELL}".encode())
_INSIDE = re.compile(rf"(?:<\(|\$\(){_SPACE}*+{_FETCH}".encode())
_FETCHED = re.compile(rf"{_FETCH}|\bbase64{_SPACE}++(?:-d|--decode)\b".encode())
_SHELL_BEFORE = re.compile(rf"(?<![\w.-]){_SHELL}{_SPACE}++(?:-c{_SPACE}++)?[\"']?\Z".encode())


def find_unseen(data: bytes, file: str, budget: ScanBudget | None = None) -> Iterator[Problem]:
    """Yield a problem for each place in a text where something is hidden, reordered, or run without having been seen.

    `budget` is what remains of the pack's. What is hidden is a refusal, and found without it: nobody can use it up to hide more.
    """
    if b"\0" in data:
        return
    budget = budget or ScanBudget()
    yield from islice(_find_hidden(data, file), MAX_UNSEEN_TOLD)
    yield from islice(_find_reordered(data, file), MAX_UNSEEN_TOLD)
    yield from islice(_find_run(data, file, budget), MAX_UNSEEN_TOLD)


def _find_hidden(data: bytes, file: str) -> Iterator[Problem]:
    # Most files are ASCII, which is seen at once.
    if not data.isascii() and any(literal in data for literal in _HIDDEN_BYTES):
        text = data.decode("utf-8", "replace")
        found = (pattern.finditer(text) for pattern in (_TAGS, _MARKS, _SELECTORS))
        for match in heapq.merge(*found, key=re.Match.start):
            start = match.start(match.lastgroup or 0)
            yield make_problem("hidden-text", _say_hidden(text[start : match.end()]), file, find_place(text, start))


def _find_reordered(data: bytes, file: str) -> Iterator[Problem]:
    if not data.isascii() and any(literal in data for literal in _REORDERED_BYTES):
        text = data.decode("utf-8", "replace")
        for match in _REORDERED.finditer(text):
            said = f"U+{ord(match[0][0]):04X} changes the order in which the line is shown"
            yield make_problem("text-reordered", said, file, find_place(text, match.start()))


def _find_run(data: bytes, file: str, budget: ScanBudget) -> Iterator[Problem]:
    if not any(literal in data for literal in _RUNNING):
        return
    small, told = data.lower(), 0
    if not any(literal in small for literal in _FETCHING):
        return
    for start, end in heapq.merge(_find_piped(small, budget), _find_inside(small, budget)):
        if start >= told:
            told = end
            shown = " ".join(data[start:end].decode("utf-8", "replace").split())[:SHOWN_CHARACTERS]
            text = f"it runs what it has just fetched: {shown}"
            yield make_problem("download-run", text, file, find_byte_place(data, start))


def _find_piped(small: bytes, budget: ScanBudget) -> Iterator[_Span]:
    """Yield where what was fetched goes through a pipe to what runs it: `curl X | sh`."""
    for match in _PIPED.finditer(small):
        if not budget.try_one():
            return
        pipe = match.start()
        first = max(pipe - _REACH_BYTES, 0)
        first = max(first, small.rfind(b"\n", first, pipe) + 1, small.rfind(b"|", first, pipe) + 1)
        if fetched := _FETCHED.search(small, first, pipe):
            yield fetched.start(), match.end()


def _find_inside(small: bytes, budget: ScanBudget) -> Iterator[_Span]:
    """Yield where what runs it is given what a command inside fetches: `sh -c "$(curl X)"`."""
    for match in _INSIDE.finditer(small):
        if not budget.try_one():
            return
        first = max(match.start() - _BEFORE_BYTES, 0)
        first = max(first, small.rfind(b"\n", first, match.start()) + 1)
        if shell := _SHELL_BEFORE.search(small, first, match.start()):
            last = match.end() + _REACH_BYTES
            end = small.find(b"\n", match.end(), last)
            yield shell.start(), end if end >= 0 else min(last, len(small))


def _say_hidden(found: str) -> str:
    shown = found[: SHOWN_CHARACTERS * 4]
    spelt = "".join(chr(ord(one) - 0xE0000) for one in shown if 0xE0020 <= ord(one) <= 0xE007E)
    told = f"{len(found)} characters that nobody sees"
    return f"{told}; they spell {spelt[:SHOWN_CHARACTERS]!r}" if spelt else f"{told} stand in a row"
