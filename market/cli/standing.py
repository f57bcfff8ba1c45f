"""How the packs of some roots stand: from the disk, and where a running host serves the root, from that host's registry."""

from __future__ import annotations

import importlib
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from market.cli.beside import beside_hosts, beside_program
from market.cli.standing_row import HostLook, PackStanding, name_lost
from market.client.running_hosts import load_running_hosts
from market.errors import MarketError
from market.installer.listing import list_directories
from market.installer.tree_state import TreeState
from market.model import State
from market.registry.environment import EnvironmentPacks
from market.registry.findings import LACKING
from market.registry.links import read_link_targets
from market.registry.live import SOURCE_PACK, SOURCE_PLUGIN, SOURCE_WORKSPACE
from market.registry.loader import Loader
from market.registry.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from market.cli.market import Market
    from market.client.host_wire import SkillView
    from market.installer.listing import Installed
    from market.installer.root import Root
    from market.registry.live import LiveSkill
    from market.registry.unit import LoadedUnit

BEHIND = "behind"
# The first of these that holds for a pack is the word for it; what somebody must act on comes first.
WEIGHTY_STATES = (State.HELD, State.INELIGIBLE, State.SHADOWED)


def load_registry(
    roots: Iterable[Root], link_targets: tuple[str, ...] = (), *, with_environment: bool = False
) -> Registry:
    """Load what stands in some roots, in their order, and after it the plugin packs of this Python's environment if they shall count.

    What doesn't load is in the snapshot, so its log lines are dropped.
    """
    logging.getLogger("market.registry").addHandler(logging.NullHandler())
    packs = EnvironmentPacks(Loader(link_targets=link_targets).load)
    registry = Registry((str(root.path) for root in roots), packs.load, packs.find if with_environment else tuple)
    registry.load()
    return registry


def find_standings(
    market: Market, roots: Sequence[Root], *, with_environment: bool = False
) -> tuple[tuple[PackStanding, ...], tuple[HostLook, ...]]:
    """Return every installed pack and every folder with skills, root by root, and what the hosts said.

    With `with_environment` also the plugin packs that pip put beside this program or beside those hosts.
    """
    registry = load_registry(roots, read_link_targets(market.environ), with_environment=with_environment)
    looks = ask_hosts(market, roots)
    rows = [row for root in roots for row in _standings(registry, root, looks)]
    if with_environment:
        rows += [*beside_program(registry), *beside_hosts(registry, looks)]
    return tuple(rows), looks


def ask_hosts(market: Market, roots: Sequence[Root]) -> tuple[HostLook, ...]:
    """Ask each running host that serves one of the roots for its skills."""
    looks = []
    for host in load_running_hosts(market.home):
        served = [name for root in roots if (name := host.find_root(root.path))]
        if not served:
            continue
        try:
            # Only now: without a host there is no need for an HTTP library.
            skills = importlib.import_module("market.cli.network").open_host(market, host.url).skills(state="all")
        except MarketError as error:
            looks += [HostLook(host.url, name, trouble=error.message) for name in served]
        else:
            live = [one for one in skills if not one.manifest]
            plugins = tuple(one for one in skills if one.source == SOURCE_PLUGIN)
            looks += [
                HostLook(host.url, name, tuple(one for one in live if one.root == name), plugins) for name in served
            ]
    return tuple(looks)


def judge_pack(tree: TreeState, skills: Sequence[str], *, has_dropped: bool) -> str:
    """Return the one word for a pack, given the states of its skills and whether a manifest of it can't load.

    >>> judge_pack(TreeState.INTACT, ["live", "shadowed"], has_dropped=False)
    'shadowed'
    """
    if tree in (TreeState.MISSING, TreeState.BROKEN):
        return str(tree)
    if has_dropped or not skills or State.INVALID in skills:
        return str(State.INVALID)
    if all(state == State.DISABLED for state in skills):
        return str(State.DISABLED)
    if found := next((state for state in WEIGHTY_STATES if state in skills), None):
        return str(found)
    return {TreeState.EDITED: State.EDITED, TreeState.UNMANAGED: State.UNMANAGED}.get(tree, State.LIVE)


def _standings(registry: Registry, root: Root, looks: Sequence[HostLook]) -> list[PackStanding]:
    snapshot, path = registry.snapshot, str(root.path)
    installed = {row.name: row for row in list_directories(root)}
    units = {unit.name: loaded for unit, loaded in snapshot.units.items() if unit.root == path}
    skills: dict[str, list[LiveSkill]] = {}
    for live in snapshot.all_skills():
        if live.root == path:
            skills.setdefault(live.unit[len(path) + 1 :], []).append(live)
    look = next((one for one in looks if not one.trouble and _is_of(one, root)), None)
    rows = []
    for name in sorted({*installed, *(unit for unit, loaded in units.items() if loaded.skills or loaded.dropped)}):
        loaded = units.get(name)
        row = _standing(root, name, installed.get(name), skills.get(name, []), loaded)
        version = row.version or (loaded.version if loaded else "")
        pack = loaded.pack if loaded else name
        rows.append(_as_hosted(row, pack, version, look))
    return rows


def _standing(
    root: Root, name: str, installed: Installed | None, found: list[LiveSkill], loaded: LoadedUnit | None
) -> PackStanding:
    tree = installed.state if installed else TreeState.UNMANAGED
    lost = name_lost(loaded.dropped if loaded else ())
    # The second skill of a name is told beside the pack; the first one is none the worse for it.
    has_dropped = any(not one.is_duplicate for one in loaded.dropped) if loaded else False
    state = judge_pack(tree, [str(live.state) for live in found], has_dropped=has_dropped)
    skills = tuple((live.key, str(live.state)) for live in found)
    lacks = _find_lacks((one.rule, one.text, one.fix) for live in found for one in live.problems)
    row = PackStanding(root, name, state, tree, skills=skills, source=SOURCE_WORKSPACE, not_loaded=lost, lacks=lacks)
    if installed is None:
        return row
    receipt = installed.receipt
    return replace(
        row,
        version=receipt.version.text if receipt else "",
        receipt=receipt,
        edited_files=installed.edited_files,
        trouble=installed.trouble,
        source=SOURCE_PACK,
    )


def _as_hosted(row: PackStanding, pack: str, version: str, look: HostLook | None) -> PackStanding:
    """Return the row with what the host says of the pack: its word counts, since calls go there."""
    row = replace(row, version=version)
    if look is None or not row.skills:
        return row
    shown = [one for one in look.skills if one.pack == pack]
    if {one.version for one in shown} != {version}:
        other = ", ".join(sorted({one.version for one in shown if one.version != version}))
        return replace(row, host=look.url, host_version=other)
    skills = tuple((one.key, one.state) for one in shown)
    state = judge_pack(row.tree, [word for _, word in skills], has_dropped=row.state == State.INVALID)
    lost = (*row.not_loaded, *_unusable(shown))
    told = ((one.get("rule"), one.get("text"), one.get("fix")) for skill in shown for one in skill.problems)
    return replace(row, host=look.url, skills=skills, state=state, not_loaded=lost, lacks=_find_lacks(told))


def _find_lacks(problems: Iterable[tuple[object, object, object]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((str(text), str(fix)) for rule, text, fix in problems if rule == LACKING))


def _unusable(skills: Iterable[SkillView]) -> Iterator[tuple[str, str]]:
    """Yield those that loaded and turned out to be unusable in the host, with the reason."""
    for one in skills:
        if one.state == State.INVALID:
            yield (
                one.key,
                "; ".join(str(problem.get("text", "")) for problem in one.problems) or "the host's log says why",
            )


def _is_of(look: HostLook, root: Root) -> bool:
    return root.path.resolve() == Path(look.root).resolve()
