"""The lenient reading of front matter: what Claude Code and OpenClaw load although it is not YAML.

Only lines `key: text` whose text YAML takes for syntax are put in quotes; the whole text survives. Anything else stays broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(r"(?P<head>(?P<indent>[ ]*)(?:- )?(?P<key>[A-Za-z_][A-Za-z0-9_.-]*):[ \t]+)(?P<value>\S.*)")
_BLOCK_HEADER = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-]?)(?:[ \t]+#.*)?")
_CLOSERS = {"[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Repair:
    """One line that was put in quotes: its number from 1, the column of its value, its key and the corrected line."""

    line: int
    column: int
    key: str
    corrected: str


def repair_yaml(text: str) -> tuple[str, tuple[Repair, ...]]:
    """Return the text with unreadable values quoted, and what was changed. The number of lines stays the same."""
    lines = text.split("\n")
    repairs: list[Repair] = []
    number = 0
    while number < len(lines):
        match = _LINE.fullmatch(lines[number].rstrip())
        if match is None:
            number += 1
            continue
        indent = len(match["indent"])
        following = _count_following(lines, number + 1, indent)
        if not _BLOCK_HEADER.fullmatch(match["value"]) and (
            plain := _read_as_text(match["value"], lines[number + 1 : number + 1 + following])
        ):
            corrected = match["head"] + quote_text(plain)
            repairs.append(Repair(number + 1, len(match["head"]) + 1, match["key"], corrected))
            lines[number : number + 1 + following] = [corrected, *[""] * following]
        number += 1 + (following if lines[number] == "" or _BLOCK_HEADER.fullmatch(match["value"]) else 0)
    return "\n".join(lines), tuple(repairs)


def propose_line(line: str) -> str:
    """Return a line `key: value` with its value in quotes, or empty where it has no such form."""
    match = _LINE.fullmatch(line.rstrip())
    return match["head"] + quote_text(match["value"]) if match else ""


def quote_text(text: str) -> str:
    """Return a text as a YAML scalar in single quotes, which know no escapes but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def _count_following(lines: list[str], start: int, indent: int) -> int:
    """Count the lines that belong to a value: those indented deeper, up to the last one that isn't blank."""
    count = 0
    for offset, line in enumerate(lines[start:], 1):
        if not line.strip():
            continue
        if len(line) - len(line.lstrip(" ")) <= indent:
            break
        count = offset
    return count


def _read_as_text(value: str, following: list[str]) -> str:
    """Return the text that the author meant, or empty where the value is good YAML or can't be understood."""
    whole = " ".join([value, *(line.strip() for line in following if line.strip())])
    first = value[0]
    if first in "\"'":
        return _read_quoted(whole)
    if first in _CLOSERS:
        closed, _, rest = whole.rpartition(_CLOSERS[first])
        return whole if closed and rest.strip() and not rest.lstrip().startswith("#") else ""
    if first in "%@`|>,]}*" or value.startswith(("- ", "? ", ": ")):
        return whole
    if first in "&!#":  # anchors, tags and comments are syntax, and must not become text behind the reader's back
        return ""
    return whole if re.search(r":(?:\s|$)", whole) else ""


def _read_quoted(whole: str) -> str:
    """A quoted value is broken where text follows its closing quote: `"Fast" summary`, `'it's'`."""
    quote = whole[0]
    good = re.fullmatch(r'"(?:[^"\\]|\\.)*"(?:\s+#.*)?' if quote == '"' else r"'(?:[^']|'')*'(?:\s+#.*)?", whole)
    if good or whole.count(quote) < 2:
        return ""
    inner = whole[1:-1]
    return inner if whole.endswith(quote) and quote in inner and inner.strip() else whole
