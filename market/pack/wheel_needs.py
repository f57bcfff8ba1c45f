"""What a wheel's tree needs of Python and system: its own tags, and the conditions of every distribution that was fetched for it.

Read from WHEEL and METADATA, no code is run. Whether this machine meets them is `market.installer.machine`. What the distributions
depend on is one of the conditions (`wheel_wanted.py`): what lies there was chosen for another machine's markers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from market.model import Brought
from market.pack.text import read_manifest
from market.pack.wheel_metadata import parse_wheel_file
from market.pack.wheel_tags import is_universal
from market.pack.wheel_tree import DIST_INFO, SITE_FOLDER
from market.pack.wheel_wanted import find_wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.model import Needs
    from market.pack.source import Source, SourceFile

OLDEST_PYTHON = Version("3.11")
"""The oldest Python on which Market works: what only asks for one as old asks for nothing."""

_PYTHON = "requires-python"
_REQUIRES = "requires-dist"
_FOLDED = re.compile(r"\n[ \t]+")


def add_wheel_needs(needs: Needs, source: Source, files: Mapping[str, SourceFile], dist_info: str) -> Needs:
    """Return the needs of METADATA with those of the tags, and of what lies in `.site`. `files` are the whole tree's."""
    tags = _read_tags(source, files, dist_info)
    if not any(path.startswith(f"{SITE_FOLDER}/") for path in files):
        return replace(needs, tags=tags)
    folders = sorted({_dist_info_in_site(path) for path in files} - {""})
    headers = {folder: _read_headers(source, files, folder) for folder in (dist_info, *folders)}
    brought = (_read_brought(source, files, folder, headers[folder]) for folder in folders)
    requires = {_split(folder)[0]: _values(rows, _REQUIRES) for folder, rows in headers.items()}
    there = dict(map(_split, headers))
    return replace(
        needs,
        tags=tags,
        brought=tuple(one for one in brought if one.tags or one.python),
        wanted=find_wanted(requires, there),
    )


def is_met_everywhere(python: str) -> bool:
    """Whether a Requires-Python holds for every Python on which Market works.

    >>> is_met_everywhere(">=3.8,!=3.9.*"), is_met_everywhere(">=3.12"), is_met_everywhere(">=3.8,<3.13")
    (True, False, False)
    """
    return all(_is_met_everywhere(one) for one in SpecifierSet(python))


def _is_met_everywhere(one: Specifier) -> bool:
    if one.operator not in (">=", ">", "!="):
        return False
    version = Version(one.version.removesuffix(".*"))
    if one.operator == ">=":
        return version <= OLDEST_PYTHON
    # `!=3.*` shuts out more than the older ones.
    return len(version.release) > 1 and version.release[:2] < OLDEST_PYTHON.release[:2]


def _read_brought(
    source: Source, files: Mapping[str, SourceFile], folder: str, headers: Sequence[tuple[str, str]]
) -> Brought:
    name, _, version = _name_of(folder).partition("-")
    return Brought(f"{name} {version}".strip(), _read_tags(source, files, folder), _find_python(headers))


def _name_of(folder: str) -> str:
    return folder.rpartition("/")[2].removesuffix(DIST_INFO)


def _split(folder: str) -> tuple[str, str]:
    """Return the name and version of a distribution, as its folder says them."""
    name, _, version = _name_of(folder).partition("-")
    return canonicalize_name(name), version


def _dist_info_in_site(path: str) -> str:
    parts = path.split("/", 2)
    return "/".join(parts[:2]) if len(parts) == 3 and parts[0] == SITE_FOLDER and parts[1].endswith(DIST_INFO) else ""


def _read_tags(source: Source, files: Mapping[str, SourceFile], folder: str) -> tuple[str, ...]:
    """Return the tags of a distribution, one of which must fit; none where one fits everywhere, or nothing is said."""
    if (file := files.get(f"{folder}/WHEEL")) is None:
        return ()
    tags = parse_wheel_file(read_manifest(source, file), file.path)[0].tags
    return () if any(map(is_universal, tags)) else tags


def _read_headers(source: Source, files: Mapping[str, SourceFile], folder: str) -> list[tuple[str, str]]:
    """Return the fields of a METADATA; none where it is missing. The parser of the form takes longer than all that is asked here."""
    if (file := files.get(f"{folder}/METADATA")) is None:
        return []
    text = read_manifest(source, file).decode("utf-8", "replace").replace("\r\n", "\n")
    lines = _FOLDED.sub(" ", text.partition("\n\n")[0]).split("\n")
    rows = (line.partition(":") for line in lines)
    return [(name.strip().lower(), value.strip()) for name, _, value in rows]


def _values(headers: Sequence[tuple[str, str]], field: str) -> list[str]:
    return [value for name, value in headers if name == field]


def _find_python(headers: Sequence[tuple[str, str]]) -> str:
    """Return a distribution's Requires-Python, unless it holds everywhere. One that can't be read was no bar when it was fetched."""
    python = next(iter(_values(headers, _PYTHON)), "")
    try:
        return "" if is_met_everywhere(python) else python
    except InvalidSpecifier:
        return ""
