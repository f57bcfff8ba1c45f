"""What was read from one unit: a directory below a root (or the root itself), its skills, and what didn't load. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.registry.live import SOURCE_WORKSPACE

if TYPE_CHECKING:
    from market.errors import Problem
    from market.hookspecs import Target
    from market.registry.live import LiveSkill

StatMark = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class UnitId:
    """Which directory. `name` is empty where the root itself is the unit (mission E3)."""

    root: str
    name: str

    @property
    def path(self) -> str:
        """The unit's absolute directory."""
        return f"{self.root}/{self.name}" if self.name else self.root


def unit_of(skill: Target) -> UnitId:
    """Return the unit that a skill belongs to."""
    return UnitId(skill.root, skill.unit[len(skill.root) + 1 :])


@dataclass(frozen=True, slots=True)
class Dropped:
    """A manifest that didn't load. `name` is empty where it couldn't be read; `is_duplicate`: its pack has the name already.

    `pack`, `version`, `root` and `source` are those of its unit: `Snapshot.dropped` fills them in.
    """

    path: str
    name: str
    cause: str
    problems: tuple[Problem, ...] = ()
    is_duplicate: bool = False
    pack: str = ""
    version: str = ""
    root: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class LoadedUnit:
    """One unit as it was read. The skills carry the state that they have if nobody shadows them.

    `signature` changes when any file's size, time, mode or inode does. `watched` holds the marks of the files that are
    compared before each use: manifests and entries, by their path in the unit. `source` is one of `market.registry.live`.
    """

    unit: UnitId
    device: int
    inode: int
    pack: str
    version: str
    tree_digest: str
    signature: bytes
    skills: tuple[LiveSkill, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    problems: tuple[Problem, ...] = ()
    watched: tuple[tuple[str, StatMark], ...] = ()
    source: str = SOURCE_WORKSPACE
