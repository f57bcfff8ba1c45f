"""How one pack stands, and what one host said of one root: the values that `standing` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.registry.live import SOURCE_PACK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.client.host_wire import SkillView
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.installer.tree_state import TreeState
    from market.registry.unit import Dropped


@dataclass(frozen=True, slots=True)
class HostLook:
    """What one host said of one root: its skills by pack, or why it couldn't be asked.

    `plugins` is what it found in its own environment, whether it loads or not.
    """

    url: str
    root: str
    skills: tuple[SkillView, ...] = ()
    plugins: tuple[SkillView, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class PackStanding:
    """One directory of a root, or a plugin pack of an environment. `skills` are keys with states, `host` the URL that said them, empty
    where the disk did. `not_loaded` are manifests (a skill's name, else a path) with the reason.
    `lacks` is what its skills need and this machine lacks, each with how to get it.

    `host_version` is the version that this host shows where it isn't the one on the disk: empty for none, None for the same.
    """

    root: Root
    name: str
    state: str
    tree: TreeState
    version: str = ""
    receipt: Receipt | None = None
    skills: tuple[tuple[str, str], ...] = ()
    edited_files: tuple[str, ...] = ()
    trouble: str = ""
    host: str = ""
    host_version: str | None = None
    source: str = SOURCE_PACK
    distribution: str = ""
    not_loaded: tuple[tuple[str, str], ...] = ()
    lacks: tuple[tuple[str, str], ...] = ()

    @property
    def pack(self) -> str:
        """The pack's name, also where this is the directory of one of its skills."""
        return str(self.receipt.pack_name) if self.receipt else self.distribution or self.name


def name_lost(rows: Iterable[Dropped]) -> tuple[tuple[str, str], ...]:
    """Return what didn't load, with the reasons: see `PackStanding.not_loaded`."""
    return tuple((row.name or row.path, row.cause) for row in rows)


def group_lost(not_loaded: Iterable[tuple[str, str]]) -> list[str]:
    """Return a clause for each reason, with the names that it keeps from loading.

    >>> group_lost([("one", "no code"), ("two", "no code")])
    ['one, two not loaded: no code']
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in not_loaded:
        by_reason.setdefault(reason, []).append(name)
    return [f"{', '.join(names)} not loaded: {reason}" for reason, names in by_reason.items()]
