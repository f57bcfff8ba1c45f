"""One immutable state of the registry: which key leads to which skill. How it changes is in `reconcile`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from market.registry.live import SOURCE_PLUGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.registry.live import LiveSkill
    from market.registry.unit import Dropped, LoadedUnit, UnitId

PACK_SEPARATOR = ":"


@dataclass(frozen=True, slots=True)
class Claim:
    """A skill that wants a name, and its unit. Claims of one name are kept in the order in which they win."""

    unit: UnitId
    skill: LiveSkill


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is registered at one moment. `roots` is the written order; `keys` is sorted; `claims` is by claim key, `packs`
    gives the sorted keys of each pack.

    Nothing here is ever changed in place, so a reader that holds a snapshot may take its time.
    """

    roots: tuple[str, ...] = ()
    units: MappingProxyType[UnitId, LoadedUnit] = field(default_factory=lambda: MappingProxyType({}))
    claims: MappingProxyType[str, tuple[Claim, ...]] = field(default_factory=lambda: MappingProxyType({}))
    skills: MappingProxyType[str, LiveSkill] = field(default_factory=lambda: MappingProxyType({}))
    keys: tuple[str, ...] = ()
    packs: MappingProxyType[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def find(self, key: str) -> LiveSkill | None:
        """Return the skill under a key; `pack:skill` also finds the one that holds the plain key."""
        if (skill := self.skills.get(key)) is not None:
            return skill
        pack, separator, name = key.partition(PACK_SEPARATOR)
        owner = self.skills.get(name) if separator else None
        return owner if owner is not None and owner.pack == pack else None

    def all_skills(self) -> Iterator[LiveSkill]:
        """Yield every skill in the order of keys."""
        return (self.skills[key] for key in self.keys)

    def dropped(self) -> tuple[Dropped, ...]:
        """Return every manifest that didn't load, with what is known of its pack, in the order of paths.

        A plugin pack's skill that can't run in the environment, and that an installed pack of its name has, isn't missed.
        """
        rows = (
            replace(row, pack=unit.pack, version=unit.version, root=unit.unit.root, source=unit.source)
            for unit in self.units.values()
            for row in unit.dropped
            if unit.source != SOURCE_PLUGIN or not self._has(unit.pack, row.name)
        )
        return tuple(sorted(rows, key=lambda row: row.path))

    def _has(self, pack: str, name: str) -> bool:
        return any(self.skills[key].skill.name == name for key in self.packs.get(pack, ()))


def plain_key(name: str) -> str:
    """Return the key that a skill asks for: its name, without the characters that divide keys and paths.

    >>> plain_key("tools:search/web")
    'tools-search-web'
    """
    return name.replace(PACK_SEPARATOR, "-").replace("/", "-")


def claim_key(name: str) -> str:
    """Return what a skill claims: its key in the spelling that hyphen and underscore forms share, since only one may hold it.

    >>> claim_key("deploy-it") == claim_key("deploy_it")
    True
    """
    return plain_key(name).replace("-", "_")
