"""What the tree of an installed wheel is composed of: its publisher's own files, and exactly which dependencies beside them.

The dependencies stand in the tree itself, as pinned requirements in one file below `.site`: whatever carries the tree (kept archive,
bundle, rollback) carries them. Resolving and fetching them is `dependencies.py`. No IO here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name

from market.errors import Untrusted
from market.names import Digest, parse_digest
from market.pack.wheel_metadata import parse_requires
from market.pack.wheel_tree import SITE_FOLDER, find_dist_info, own_digest
from market.pack.wheel_wanted import find_wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.model import Wanted
    from market.pack.record import Record
    from market.pack.source import Source
    from market.trust.verify import VerifiedPack

DEPENDENCIES_NAME = "market-dependencies.txt"
DEPENDENCIES_FILE = f"{SITE_FOLDER}/{DEPENDENCIES_NAME}"
MAX_DEPENDENCIES_BYTES = 4 << 20

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^]]*\])?==([A-Za-z0-9.!+_-]+)((?: --hash=sha256:[0-9a-f]{64})+)")


@dataclass(frozen=True, slots=True)
class Dependency:
    """One release of a Python package. `hashes` are those of all its files, one of which was fetched: `sha256:HEX`."""

    name: str
    version: str
    hashes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """`release` is the tree digest under which an index knows the wheel; `left_out` what --no-deps kept away, as requirements."""

    release: Digest
    dependencies: tuple[Dependency, ...] = ()
    left_out: tuple[str, ...] = ()


def composition_of(source: Source, record: Record) -> Composition | None:
    """Return what a tree is composed of; None where it is no wheel's, or dependencies were fetched by a Market that pinned none.

    Raises `Untrusted` where the file of the dependencies can't be read.
    """
    if not find_dist_info(record.by_path):
        return None
    if DEPENDENCIES_FILE in record.by_path:
        content = source.read(DEPENDENCIES_FILE)
        if len(content) > MAX_DEPENDENCIES_BYTES:
            raise _unreadable(DEPENDENCIES_FILE, f"it is larger than {MAX_DEPENDENCIES_BYTES} bytes")
        pinned = parse_dependencies(content.decode("utf-8", "replace"), DEPENDENCIES_FILE)
        return Composition(own_digest(record), pinned)
    if any(path.startswith(f"{SITE_FOLDER}/") for path in record.by_path):
        return None
    return Composition(record.tree_digest, left_out=requires_of(source))


def compose(verified: VerifiedPack) -> Composition | None:
    """Return what a verified pack is composed of; see `composition_of`."""
    return composition_of(verified.source, verified.record)


def requires_of(source: Source) -> tuple[str, ...]:
    """Return what a wheel's tree says it depends on, on this Python and system, without what only its extras want."""
    return choose_applying(source.read(metadata_file(source)))


def metadata_file(source: Source) -> str:
    """Return the path of a wheel's own METADATA in its tree."""
    return f"{find_dist_info([one.path for one in source.files()])}/METADATA"


def depends_elsewhere(source: Source) -> bool:
    """Whether a wheel depends on something under some Python or system, be it another one."""
    return bool(find_wanted({"": parse_requires(source.read(metadata_file(source)))}, {}))


def choose_applying(metadata: bytes) -> tuple[str, ...]:
    """Return the same of a METADATA alone."""
    return tuple(row for row in parse_requires(metadata) if _applies(row))


def find_uncovered(requires: Iterable[str], dependencies: Iterable[Dependency]) -> tuple[Wanted, ...]:
    """Return which requirements, of those that apply here, none of the dependencies meets by its name and version."""
    there = {one.name: one.version for one in dependencies}
    return tuple(one for one in find_wanted({"": tuple(requires)}, there) if not one.is_met)


def find_surplus(requires: Mapping[str, Iterable[str]], dependencies: Iterable[Dependency]) -> tuple[str, ...]:
    """Return the names of dependencies that nothing leads to, under no Python and no extra.

    `requires` has the rows of METADATA by the canonical name of the distribution, those of the wheel itself under the empty name.

    >>> find_surplus({"": ["a>=1"], "a": ["b ; python_version < '3'"]}, [Dependency(name, "1", ()) for name in ("a", "b", "six")])
    ('six',)
    """
    reached, ahead = {""}, [""]
    while ahead:
        rows = requires.get(ahead.pop(), ())
        named = {canonicalize_name(match[0]) for row in rows if (match := _NAME.match(row.strip()))} - reached
        reached |= named
        ahead += named
    return tuple(one.name for one in dependencies if one.name not in reached)


def say_left_out(composition: Composition | None, act: str = "installed") -> str:
    """Say what a pack's code lacks because it was installed (or what `act` says) without; empty where that is nothing.

    >>> say_left_out(Composition(Digest("sha256:00"), left_out=("numpy>=2", "six")))
    'installed with --no-deps: numpy>=2 and six are missing'
    """
    rows = composition.left_out if composition else ()
    return f"{act} with --no-deps: {' and '.join(rows)} {'is' if len(rows) == 1 else 'are'} missing" if rows else ""


def dump_dependency(dependency: Dependency) -> str:
    """Return a dependency as one pinned requirement, as pip and uv read them.

    >>> dump_dependency(Dependency("six", "1.0", ("sha256:00",)))
    'six==1.0 --hash=sha256:00'
    """
    return " ".join((f"{dependency.name}=={dependency.version}", *(f"--hash={one}" for one in dependency.hashes)))


def dump_dependencies(dependencies: Iterable[Dependency]) -> str:
    """Return pinned requirements, one a line."""
    return "".join(f"{dump_dependency(one)}\n" for one in dependencies)


def parse_dependencies(text: str, where: str) -> tuple[Dependency, ...]:
    """Read pinned requirements in the order of names: those written here, and what uv prints.

    Comments and options (an index's address, which is nobody's business later) are passed over. Raises `Untrusted` naming
    `where` for a line that isn't one exact version with hashes.
    """
    lines = (" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines())
    found = {one.name: one for line in lines if line and line[0] not in "#-" for one in [_parse_pin(line, where)]}
    return tuple(found[name] for name in sorted(found))


def dump_composition(composition: Composition | None) -> dict[str, Any]:
    """Return the fields of a receipt that say what a tree is composed of; none where that isn't known."""
    if composition is None:
        return {}
    rows = [{"name": one.name, "version": one.version, "hashes": list(one.hashes)} for one in composition.dependencies]
    return {"release": composition.release, "dependencies": rows, "left_out": list(composition.left_out)}


def parse_composition(values: dict[str, Any]) -> Composition | None:
    """Read the fields that `dump_composition` wrote; raises ValueError, KeyError or TypeError, or a `MarketError`."""
    if "release" not in values:
        return None
    rows = values["dependencies"]
    found = tuple(Dependency(str(row["name"]), str(row["version"]), tuple(map(str, row["hashes"]))) for row in rows)
    return Composition(parse_digest(values["release"]), found, tuple(map(str, values["left_out"])))


def _applies(requirement: str) -> bool:
    if ";" not in requirement:
        return True
    # 7 ms, which every receipt would pay at the top; here METADATA's parser has loaded it already.
    from packaging.requirements import Requirement

    marker = Requirement(requirement).marker
    return marker is None or marker.evaluate({"extra": ""})


def _parse_pin(line: str, where: str) -> Dependency:
    match = _PIN.fullmatch(line)
    if match is None:
        raise _unreadable(where, f"{line[:200]!r} is not one exact version with its hashes")
    name, version, hashes = match.groups()
    return Dependency(canonicalize_name(name), version, tuple(sorted(hashes.replace("--hash=", "").split())))


def _unreadable(where: str, why: str) -> Untrusted:
    return Untrusted(f"what {where} says of dependencies can't be read", why=why, hint="install the pack again")
