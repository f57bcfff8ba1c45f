"""References in a skill's files that lead out of its folder: there they would be broken, since a skill is installed alone. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from market.errors import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.pack.source import Source

RULE = "reference-leaves-skill"
MAX_TEXT_BYTES = 1 << 20
MAX_PROBLEMS = 20

_UPWARDS = re.compile(r"(?<![\w.])(?:\./)?(?:\.\./)+[\w.@/-]*")
_NAME = re.compile(r"\w")
_LINK = re.compile(r"\]\(\s*<?((?:\./)?(?:\.\./)+[^)\s>]*)|^\[[^\]]+\]:\s*<?((?:\./)?(?:\.\./)+[^\s>]*)", re.MULTILINE)


def find_leaving(source: Source, folder: str) -> tuple[Problem, ...]:
    """Return a problem for each reference in a skill's folder that leaves it.

    A link in Markdown counts always; any other text with `../` where it names something that the pack has outside the folder,
    seen from the file or from the skill's folder. Prose and code that merely show `../` are none of our business.
    """
    places = _places(source)
    problems = (
        problem
        for file in source.files()
        if _is_inside(file.path, folder) and file.size <= MAX_TEXT_BYTES
        for problem in _find_in(source, file.path, folder, places)
    )
    return tuple(sorted(problems, key=lambda one: (one.file, one.line, one.column)))[:MAX_PROBLEMS]


def _find_in(source: Source, path: str, folder: str, places: frozenset[str]) -> Iterator[Problem]:
    content = source.read(path)
    if b"../" not in content:
        return
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    links = {match.start(group): match[group] for match in _LINK.finditer(text) for group in (1, 2) if match[group]}
    is_markdown = path.lower().endswith((".md", ".markdown", ".mdx"))
    for match in _UPWARDS.finditer(text):
        reference = match[0].rstrip(".")
        if not _NAME.search(reference):  # `cd ../..` names a direction, no content
            continue
        bases = (posixpath.dirname(path), folder)
        leaving = [place for base in bases if not _is_inside(place := _resolve(base, reference), folder)]
        is_link = is_markdown and match.start() in links and bool(_leaves(bases[0], reference, folder))
        if is_link or any(place in places for place in leaving):
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            yield _problem(path, line, column, reference, folder)


def _leaves(base: str, reference: str, folder: str) -> bool:
    return not _is_inside(_resolve(base, reference), folder)


def _resolve(base: str, reference: str) -> str:
    return posixpath.normpath(posixpath.join(base, reference.partition("#")[0] or reference))


def _is_inside(place: str, folder: str) -> bool:
    if not folder:
        return place != ".." and not place.startswith("../")
    return place == folder or place.startswith(f"{folder}/")


def _places(source: Source) -> frozenset[str]:
    """Every file and folder of the pack, but for its top: `..` alone names no content."""
    files = [file.path for file in source.files()]
    folders = {path[:end] for path in files for end, letter in enumerate(path) if letter == "/"}
    return frozenset((*files, *folders))


def _problem(path: str, line: int, column: int, reference: str, folder: str) -> Problem:
    return Problem(
        RULE,
        Severity.ERROR,
        f"{reference!r} leads out of the skill's folder {folder or '(the whole pack)'}",
        path,
        line,
        column,
        "other programs load each skill from a folder of its own, without the rest of the pack",
        "copy what it refers to into the skill's folder, or install the pack into a root of Market",
    )
