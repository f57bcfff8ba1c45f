"""entry_points.txt of a wheel, read so that nobody can read it otherwise: which groups there are, and what ours leads to.

`importlib.metadata` is the measure, which pip and uv go by, and the worker reads the same way. `configparser` differs from both (comments,
spaces in brackets, folded lines), so a line that it would take for something else is refused instead of guessed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.text import parse_text
from market.pack.wheel_tree import importable_modules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from market.errors import Problem

    # A line's number, and what is wrong with it.
    _Fault = tuple[int, str]

GROUP = "market.skills"
MAX_ENTRY_POINTS = 100  # of our group: each is a plugin that the worker loads
MAX_POINTS_TOLD = 20  # problems of one file
SHOWN_CHARACTERS = 80

_GROUP = re.compile(r"\[[^\s\[\]]+\]")
_NO_NAME = "[#;="  # what no name begins with: `;` opens a comment for some readers, and a name for others
_TARGET = re.compile(r"[A-Za-z_][\w.]*(:[A-Za-z_][\w.]*)?")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One line of our group, with its number from 1."""

    name: str
    target: str
    line: int


@dataclass(slots=True)
class EntryPoints:
    """What an entry_points.txt says: the entry points of our group, and the names of the other groups."""

    own: list[EntryPoint] = field(default_factory=list)
    others: set[str] = field(default_factory=set)


def parse_entry_points(data: bytes, file: str) -> tuple[EntryPoints, tuple[Problem, ...]]:
    """Parse an entry_points.txt; of very many problems the first are told, and how many more there are."""
    # A mark at its start would hide the first group from Python, so that it isn't taken off here.
    if (unread := parse_text(data, file)).problems:
        return EntryPoints(), unread.problems
    found = EntryPoints()
    faults = _read_lines(data.decode().splitlines(), found)
    if len(found.own) > MAX_ENTRY_POINTS:
        text = f"the group {GROUP} has {len(found.own):,} entry points, more than {MAX_ENTRY_POINTS}"
        return EntryPoints(), (make_problem("wheel-entry-points", text, file),)
    return found, tuple(_tell_some(faults, "wheel-entry-points", file))


def check_targets(points: EntryPoints, file: str, paths: Collection[str]) -> Iterator[Problem]:
    """Yield the entry points of our group whose module isn't among a wheel's `paths`; a folder of any kind can be imported."""
    modules = importable_modules(paths)
    faults = [
        (point.line, f"{_show(point)} names a module that isn't in the wheel")
        for point in points.own
        if point.target.partition(":")[0] not in modules
    ]
    yield from _tell_some(faults, "wheel-entry-module", file)


def check_groups(points: EntryPoints, file: str) -> Iterator[Problem]:
    """Demand our group, and say of others that nothing looks for them."""
    if not points.own:
        yield make_problem("wheel-group", f"no entry point of the group {GROUP!r}", file)
    if others := sorted(points.others):
        more = f" and {len(others) - MAX_POINTS_TOLD:,} more" if len(others) > MAX_POINTS_TOLD else ""
        yield make_problem("wheel-other-groups", f"entry points of {', '.join(others[:MAX_POINTS_TOLD])}{more}", file)


def _read_lines(lines: list[str], found: EntryPoints) -> list[_Fault]:
    """Fill `found` and return what is wrong."""
    faults: list[_Fault] = []
    group, seen = "", set[tuple[str, str]]()
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        shown = repr(line[:SHOWN_CHARACTERS])
        if _GROUP.fullmatch(line):
            group, name = line[1:-1], ""
        elif "=" in line and not line[0].isspace() and line[0] not in _NO_NAME:
            name = line.partition("=")[0].rstrip()
        else:
            # What stands below a group that can't be read is in no other one.
            group = shown if line.strip("\ufeff \t").startswith("[") else group
            faults.append(
                (number, f"{shown} is neither [GROUP] nor NAME = MODULE: another reader takes it for something else")
            )
            continue
        if not group or (group, name) in seen:
            faults.append((number, f"{shown} stands twice" if group else f"{shown} stands before the first group"))
            continue
        seen.add((group, name))
        if group != GROUP:
            found.others.add(group)
        elif name:
            found.own.append(point := EntryPoint(name, line.partition("=")[2].strip(), number))
            if not _TARGET.fullmatch(point.target):
                faults.append((number, f"{_show(point)} names no module"))
    return faults


def _show(point: EntryPoint) -> str:
    return f"{point.name[:SHOWN_CHARACTERS]} = {point.target[:SHOWN_CHARACTERS]!r}"


def _tell_some(faults: list[_Fault], rule: str, file: str) -> Iterator[Problem]:
    for line, text in faults[:MAX_POINTS_TOLD]:
        yield make_problem(rule, text, file, (line, 1))
    if len(faults) > MAX_POINTS_TOLD:
        yield make_problem(rule, f"{len(faults) - MAX_POINTS_TOLD:,} more lines of this kind", file)
