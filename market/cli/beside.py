"""Plugin packs that stand in no root: pip put them into the environment of this Python, or into that of a running host.

Nobody recorded their files, so none of them is more than unmanaged.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from market.cli.standing_row import PackStanding, name_lost
from market.installer.root import Root
from market.installer.tree_state import TreeState
from market.model import State
from market.registry.live import SOURCE_PLUGIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.standing_row import HostLook
    from market.client.host_wire import SkillView
    from market.registry.registry import Registry


def beside_program(registry: Registry) -> list[PackStanding]:
    """Return the plugin packs of this Python's environment."""
    rows = []
    for unit, loaded in registry.snapshot.units.items():
        if loaded.source == SOURCE_PLUGIN:
            keys = registry.snapshot.packs.get(loaded.pack, ())
            skills = tuple((key, str(registry.snapshot.skills[key].state)) for key in keys)
            rows.append(
                PackStanding(
                    Root(Path(unit.root)),
                    unit.name,
                    State.UNMANAGED,
                    TreeState.UNMANAGED,
                    loaded.version,
                    skills=skills,
                    source=SOURCE_PLUGIN,
                    distribution=loaded.pack,
                    not_loaded=name_lost(loaded),
                )
            )
    return sorted(rows, key=lambda row: row.pack)


def beside_hosts(registry: Registry, looks: Sequence[HostLook]) -> list[PackStanding]:
    """Return the plugin packs of the hosts' environments, as far as these are others than this Python's."""
    here = {(loaded.pack, unit.root) for unit, loaded in registry.snapshot.units.items()}
    found: dict[tuple[str, str, str], list[SkillView]] = {}
    for look in {look.url: look for look in looks}.values():
        for one in look.plugins:
            if (one.pack, one.root) not in here:
                found.setdefault((one.pack, one.root, look.url), []).append(one)
    return [
        PackStanding(
            Root(Path(root)),
            "",
            State.UNMANAGED,
            TreeState.UNMANAGED,
            views[0].version,
            skills=tuple((one.key, one.state) for one in views if not one.manifest),
            host=url,
            source=SOURCE_PLUGIN,
            distribution=pack,
            not_loaded=tuple((one.name or one.manifest, one.reason) for one in views if one.manifest),
        )
        for (pack, root, url), views in sorted(found.items())
    ]
