"""What the code in a wheel's tree depends on, and whether what lies in `.site` answers to it: under any Python and system, as values.

`find_wanted` is asked once for a tree, `find_unmet` on the machine that loads it. The parser of requirements takes 10 ms to load, and
most trees have no `.site`: so it is loaded when the first of them is met.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from market.model import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from packaging.requirements import Requirement

_WITH_EXTRAS = re.compile(r"\s*([A-Za-z0-9._-]+)\s*\[([^\]]*)\]")
# The commonest rows are of extras that nobody asks for: seen without the parser, where nothing but that extra could let them count.
_OF_EXTRA = re.compile(r"""\bextra\s*==\s*["']([^"']*)["']""")


def find_wanted(requires: Mapping[str, Sequence[str]], there: Mapping[str, str]) -> tuple[Wanted, ...]:
    """Return which requirements have to be judged where the tree stands: those that `there` doesn't meet, and what leads to them.

    `requires` has the rows of METADATA by the name of the distribution, `there` the version of each that lies there. A row that can't be
    read was no bar when it was fetched.
    """
    asked = {pair for rows in requires.values() for row in rows for pair in _asked_extras(row)}
    rows = [
        _want(by, parsed, there)
        for by, rows in requires.items()
        for row in rows
        if not _is_idle(canonicalize_name(by), row, asked)
        for parsed in _parse(row)
    ]
    with_extras = {one.by for one in rows if "extra" in one.marker and not one.is_met}
    return tuple(one for one in rows if not one.is_met or (one.extras and with_extras))


def find_unmet(wanted: Sequence[Wanted], environment: Mapping[str, str]) -> tuple[Wanted, ...]:
    """Return what isn't met under a Python and system: `environment` has the values of markers, as `packaging` names them."""
    asked: set[tuple[str, str]] = set()
    while True:
        held = [one for one in wanted if _holds(one, asked, environment)]
        more = {(one.name, extra) for one in held for extra in one.extras}
        if more <= asked:
            return tuple(one for one in held if not one.is_met)
        asked |= more


def _holds(one: Wanted, asked: set[tuple[str, str]], environment: Mapping[str, str]) -> bool:
    """Whether a requirement counts: for the distribution itself, or for one of the extras that are asked of it."""
    if not one.marker:
        return True
    from packaging.markers import Marker

    marker = Marker(one.marker)
    extras = ("", *(extra for by, extra in asked if by == one.by))
    return any(marker.evaluate({**environment, "extra": extra}) for extra in extras)


def _want(by: str, requirement: Requirement, there: Mapping[str, str]) -> Wanted:
    name = canonicalize_name(requirement.name)
    text = f"{requirement.name}{requirement.specifier}"
    extras = tuple(sorted(canonicalize_name(extra) for extra in requirement.extras))
    version = there.get(name, "")
    marker = str(requirement.marker or "")
    return Wanted(canonicalize_name(by), name, text, marker, extras, version, _is_met(requirement, version))


def _is_met(requirement: Requirement, version: str) -> bool:
    if not version:
        return False
    try:
        return requirement.specifier.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return True


def _parse(row: str) -> Iterator[Requirement]:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        yield Requirement(row)
    except InvalidRequirement:
        return


def _asked_extras(row: str) -> Iterator[tuple[str, str]]:
    if match := _WITH_EXTRAS.match(row):
        for extra in match[2].split(","):
            yield canonicalize_name(match[1]), canonicalize_name(extra.strip())


def _is_idle(by: str, row: str, asked: set[tuple[str, str]]) -> bool:
    """Whether a row counts under no Python: it is one of an extra that no other row asks for."""
    marker = row.partition(";")[2]
    match = None if " or " in marker else _OF_EXTRA.search(marker)
    return match is not None and (by, canonicalize_name(match[1])) not in asked
