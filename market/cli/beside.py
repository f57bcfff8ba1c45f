"""Plugin packs that stand in no root: pip put them into the environment of this Python, or into that of a running host.

Nobody recorded their files, so none of them is more than unmanaged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from market.cli.standing_row import PackStanding, name_lost
from market.installer.root import Root
from market.installer.tree_state import TreeState
from market.model import State
from market.pack.entry_points import GROUP
from market.plugins.find import find_entries
from market.registry.live import SOURCE_PLUGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.standing_row import HostLook
    from market.client.host_wire import SkillView
    from market.registry.registry import Registry
    from market.registry.unit import Dropped


def beside_program(registry: Registry) -> list[PackStanding]:
    """Return the plugin packs of this Python's environment."""
    snapshot = registry.snapshot
    lost: dict[str, list[Dropped]] = {}
    for row in snapshot.dropped():
        lost.setdefault(row.root, []).append(row)
    rows = []
    for unit, loaded in snapshot.units.items():
        if loaded.source != SOURCE_PLUGIN:
            continue
        keys = [key for key in snapshot.packs.get(loaded.pack, ()) if snapshot.skills[key].unit == unit.path]
        skills = tuple((key, str(snapshot.skills[key].state)) for key in keys)
        not_loaded = name_lost(row for row in lost.get(unit.root, ()) if row.pack == loaded.pack)
        rows.append(
            PackStanding(
                Root(Path(unit.root)),
                unit.name,
                _word(skills, not_loaded),
                TreeState.UNMANAGED,
                loaded.version,
                skills=skills,
                source=SOURCE_PLUGIN,
                distribution=loaded.pack,
                not_loaded=not_loaded,
            )
        )
    return sorted(rows, key=lambda row: row.pack)


def beside_hint(name: str) -> str:
    """Return what to do where a pack was looked up in vain and pip has put it into this environment; empty where it hasn't."""
    wanted = canonicalize_name(name)
    if any(canonicalize_name(entry.distribution) == wanted for entry in find_entries(GROUP)):
        return (
            f"pip put it into the environment of this Python, and only pip changes it there: `pip uninstall {wanted}`"
        )
    return ""


def beside_hosts(registry: Registry, looks: Sequence[HostLook]) -> list[PackStanding]:
    """Return the plugin packs of the hosts' environments, as far as these are others than this Python's."""
    here = {(loaded.pack, unit.root) for unit, loaded in registry.snapshot.units.items()}
    found: dict[tuple[str, str, str], list[SkillView]] = {}
    for look in {look.url: look for look in looks}.values():
        for one in look.plugins:
            if (one.pack, one.root) not in here:
                found.setdefault((one.pack, one.root, look.url), []).append(one)
    rows = []
    for (pack, root, url), views in sorted(found.items()):
        skills = tuple((one.key, one.state) for one in views if not one.manifest)
        lost = tuple((one.name or one.manifest, one.reason) for one in views if one.manifest)
        rows.append(
            PackStanding(
                Root(Path(root)),
                "",
                _word(skills, lost),
                TreeState.UNMANAGED,
                views[0].version,
                skills=skills,
                host=url,
                source=SOURCE_PLUGIN,
                distribution=pack,
                not_loaded=lost,
            )
        )
    return rows


def _word(skills: Sequence[object], lost: Sequence[object]) -> State:
    return State.INVALID if lost and not skills else State.UNMANAGED
