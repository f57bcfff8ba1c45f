"""What a wheel's tree needs of Python and system: its own tags, and the conditions of every distribution that was fetched for it.

Read from WHEEL and METADATA, no code is run. Whether this machine meets them is `market.installer.machine`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import Version

from market.model import Brought
from market.pack.text import read_manifest
from market.pack.wheel_metadata import parse_wheel_file
from market.pack.wheel_tags import is_universal
from market.pack.wheel_tree import DIST_INFO, SITE_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.model import Needs
    from market.pack.source import Source, SourceFile

OLDEST_PYTHON = Version("3.11")
"""The oldest Python on which Market works: what only asks for one as old asks for nothing."""

_FIELD = "requires-python"


def add_wheel_needs(needs: Needs, source: Source, files: Mapping[str, SourceFile], dist_info: str) -> Needs:
    """Return the needs of METADATA with those of the tags, and of what lies in `.site`. `files` are the whole tree's."""
    return replace(needs, tags=_read_tags(source, files, dist_info), brought=tuple(_read_site(source, files)))


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


def _read_site(source: Source, files: Mapping[str, SourceFile]) -> Iterable[Brought]:
    for folder in sorted({_dist_info_in_site(path) for path in files} - {""}):
        name, _, version = folder.rpartition("/")[2].removesuffix(DIST_INFO).partition("-")
        found = Brought(
            f"{name} {version}".strip(), _read_tags(source, files, folder), _read_python(source, files, folder)
        )
        if found.tags or found.python:
            yield found


def _dist_info_in_site(path: str) -> str:
    parts = path.split("/", 2)
    return "/".join(parts[:2]) if len(parts) == 3 and parts[0] == SITE_FOLDER and parts[1].endswith(DIST_INFO) else ""


def _read_tags(source: Source, files: Mapping[str, SourceFile], folder: str) -> tuple[str, ...]:
    """Return the tags of a distribution, one of which must fit; none where one fits everywhere, or nothing is said."""
    if (file := files.get(f"{folder}/WHEEL")) is None:
        return ()
    tags = parse_wheel_file(read_manifest(source, file), file.path)[0].tags
    return () if any(map(is_universal, tags)) else tags


def _read_python(source: Source, files: Mapping[str, SourceFile], folder: str) -> str:
    """Return a distribution's Requires-Python, unless it holds everywhere. One that can't be read was no bar when it was fetched."""
    if (file := files.get(f"{folder}/METADATA")) is None:
        return ""
    headers = read_manifest(source, file).decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")[0]
    rows = (line.partition(":") for line in headers.split("\n"))
    python = next((value.strip() for name, _, value in rows if name.strip().lower() == _FIELD), "")
    try:
        return "" if is_met_everywhere(python) else python
    except InvalidSpecifier:
        return ""
