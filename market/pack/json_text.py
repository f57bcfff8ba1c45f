"""JSON as packs use it: the value, every syntax fault with its place, and where each value stands (found only when asked).

Stricter than `json.loads`: repeated keys, NaN, Infinity, half surrogate pairs and deep nesting are problems.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

from market.pack.rules import make_problem
from market.pack.text import find_place, parse_text

if TYPE_CHECKING:
    from market.errors import Problem

MAX_JSON_DEPTH = 64
MAX_REPEATS_TOLD = 20

Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\n]*")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
_SCALAR = re.compile(r"[^,\]}\s]+")


@dataclass(frozen=True)
class JsonText:
    """A parsed document. `value` is meaningless where `problems` isn't empty."""

    file: str
    text: str
    value: Any
    problems: tuple[Problem, ...] = ()

    @cached_property
    def offsets(self) -> dict[Path, int]:
        """Where each value starts; a mapping's key stands under (path, key, '@key')."""
        return _Scanner(self.text).scan()

    def find_place(self, path: Path) -> tuple[int, int]:
        """Return line and column of a value, or of the nearest one that exists around it."""
        while path and path not in self.offsets:
            path = path[:-1]
        return find_place(self.text, self.offsets.get(path, 0))


class _Fault(Exception):
    """A constant or a number that JSON doesn't have."""


def parse_json(data: bytes, file: str) -> JsonText:
    """Parse a JSON file. Nothing is raised: what is wrong is in `problems`."""
    text = parse_text(data, file)
    if text.problems:
        return JsonText(file, "", None, text.problems)
    repeated: list[str] = []
    try:
        value = json.loads(
            text.text, object_pairs_hook=_make_collector(repeated), parse_constant=_refuse, parse_float=_parse_float
        )
    except (ValueError, RecursionError, _Fault) as error:
        return JsonText(file, text.text, None, (_syntax_problem(text.text, error, file),))
    document = JsonText(file, text.text, value)
    problems = (*_find_repeats(document, repeated), *_find_depth(document), *_find_surrogates(document))
    return JsonText(file, text.text, value, problems) if problems else document


def _make_collector(repeated: list[str]) -> Any:
    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(pairs)
        if len(values) != len(pairs):
            repeated.append("")
        return values

    return collect


def _refuse(constant: str) -> Any:
    raise _Fault(constant)


def _parse_float(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise _Fault(text)
    return number


def _syntax_problem(text: str, error: Exception, file: str) -> Problem:
    if isinstance(error, json.JSONDecodeError):
        place = find_place(text, error.pos)
        line = text.split("\n")[place[0] - 1].strip()
        return make_problem("json-syntax", f"{error.msg}: {line[:80]!r}", file, place, fix=_guess_fix(text, error.pos))
    if isinstance(error, RecursionError):
        return make_problem("json-deep", f"{file} is nested too deep", file, (1, 1))
    if isinstance(error, _Fault):
        at = re.search(rf"(?<![\w\"]){re.escape(str(error))}(?![\w\"])", text)
        return make_problem(
            "json-constant", f"{error} is not a JSON number", file, find_place(text, at.start() if at else 0)
        )
    return make_problem("json-syntax", "a number has too many digits", file, (1, 1))


def _guess_fix(text: str, position: int) -> str:
    before, after = text[:position].rstrip(), text[position : position + 1]
    if text.startswith(("//", "/*"), position):
        return "JSON has no comments: remove it"
    if after == "'":
        return "use double quotes"
    if word := next((word for word in _PYTHON_WORDS if text.startswith(word, position)), ""):
        return f"write {_PYTHON_WORDS[word]}"
    if after == ",":  # where newer Pythons see a trailing comma; older ones point behind it
        return "remove the comma"
    if before.endswith((",", "{")) and after:
        return "remove the comma before it" if after in "}]" else "put the key in double quotes"
    if after == '"' and not before.endswith(("[", ",", ":")):
        return "put a comma before it"
    return "close what is open: a quote, a bracket or a brace" if not after else ""


def _find_repeats(document: JsonText, repeated: list[str]) -> tuple[Problem, ...]:
    if not repeated:
        return ()
    scanner = _Scanner(document.text)
    scanner.scan()
    return tuple(
        make_problem(
            "json-duplicate-key", f"the key {key!r} stands twice", document.file, find_place(document.text, offset)
        )
        for key, offset in scanner.repeats[:MAX_REPEATS_TOLD]
    )


def _find_depth(document: JsonText) -> tuple[Problem, ...]:
    # Counting brackets is a cheap bound that clears nearly every file without a walk.
    if (
        document.text.count("[") + document.text.count("{") <= MAX_JSON_DEPTH
        or _depth_of(document.value) <= MAX_JSON_DEPTH
    ):
        return ()
    return (
        make_problem(
            "json-deep", f"{document.file} is nested deeper than {MAX_JSON_DEPTH} levels", document.file, (1, 1)
        ),
    )


def _depth_of(value: Any) -> int:
    """Count levels without recursion: the value may be deeper than the interpreter's stack."""
    level, depth = [value], 0
    while containers := [part for part in level if isinstance(part, dict | list)]:
        depth += 1
        if depth > MAX_JSON_DEPTH:
            break
        level = [item for part in containers for item in (part.values() if isinstance(part, dict) else part)]
    return depth


def _find_surrogates(document: JsonText) -> tuple[Problem, ...]:
    found = re.search(r"\\u[dD][89a-fA-F]", document.text)
    if found is None:
        return ()
    try:
        json.dumps(document.value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return (
            make_problem(
                "json-surrogate", "half of a surrogate pair", document.file, find_place(document.text, found.start())
            ),
        )
    return ()


class _Scanner:
    """Walks text that `json.loads` accepted, to find where its values start. Without recursion, as depth isn't bounded here."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.offsets: dict[Path, int] = {}
        self.repeats: list[tuple[str, int]] = []

    def scan(self) -> dict[Path, int]:
        """Return the offset of each value by its path."""
        stack: list[tuple[Path, str, int]] = []  # the container's path, its closer, the number of its next item
        at, path = self._skip(0), ()
        at = self._enter(path, at, stack)
        while stack:
            container, closer, number = stack.pop()
            at = self._skip(at)
            if self.text[at] == closer:
                at += 1
                continue
            if self.text[at] == ",":
                at = self._skip(at + 1)
            key: str | int = number
            if closer == "}":
                start = at
                key, at = scanstring(self.text, at + 1, True)
                at = self._skip(self._skip(at) + 1)
                self._note_key((*container, key), start)
            stack.append((container, closer, number + 1))
            at = self._enter((*container, key), at, stack)
        return self.offsets

    def _note_key(self, path: Path, start: int) -> None:
        if (*path, "@key") in self.offsets:
            self.repeats.append((str(path[-1]), start))
        self.offsets[(*path, "@key")] = start

    def _enter(self, path: Path, at: int, stack: list[tuple[Path, str, int]]) -> int:
        """Note a value's start; push a container, or skip a scalar. Returns where to go on."""
        self.offsets[path] = at
        first = self.text[at]
        if first in "{[":
            stack.append((path, "}" if first == "{" else "]", 0))
            return at + 1
        if first == '"':
            return int(scanstring(self.text, at + 1, True)[1])
        scalar = _SCALAR.match(self.text, at)
        return scalar.end() if scalar else at + 1

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        return space.end() if space else at
