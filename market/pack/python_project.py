"""Is a folder the source of a wheel pack, rather than a pack itself? By its pyproject.toml, without running a build."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from market.pack.entry_points import GROUP
from market.pack.rules import make_problem
from market.pack.text import find_place, parse_text, read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.errors import Problem
    from market.pack.source import Source, SourceFile

PROJECT_FILE = "pyproject.toml"
# What pyproject.toml says, so that its author need not write it anywhere else.
_SAID_THERE = frozenset({"version-missing", "pack-name"})

# As a table's name, or as a key in [project.entry-points].
_GROUP = re.compile(rf"""^[ \t]*(\[[^\]\n#]*)?(["']){re.escape(GROUP)}\2""", re.MULTILINE)


def lead_with_project(
    source: Source, files: Mapping[str, SourceFile], problems: Sequence[Problem]
) -> Sequence[Problem]:
    """Return the problems of a folder, headed by the one that it is the source of a wheel, where it is."""
    project = _find_project(source, files)
    return [project, *(one for one in problems if one.rule not in _SAID_THERE)] if project else problems


def _find_project(source: Source, files: Mapping[str, SourceFile]) -> Problem | None:
    """A folder whose pyproject.toml declares our entry-point group."""
    if (file := files.get(PROJECT_FILE)) is None:
        return None
    text = parse_text(read_manifest(source, file), PROJECT_FILE).text
    found = _GROUP.search(text)
    if found is None:
        return None
    what = f"it is a Python project: its pack is the wheel with the entry-point group {GROUP!r} that it builds"
    return make_problem("python-project", what, PROJECT_FILE, find_place(text, found.start()))
