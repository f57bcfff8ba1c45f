"""What an order will do to a root, pack by pack: install, upgrade, keep; sizes; what it may do that it couldn't before.

Made of documents alone for a dry run, of verified packs otherwise, in the same form. Nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from market.errors import MarketError, NotFound
from market.installer.announced import read_announced
from market.installer.composition import Composition, compose
from market.installer.layout import Layout, load_layout
from market.installer.machine import parse_needs
from market.installer.powers import Power, Widening, find_widening, powers_of, powers_of_summaries
from market.installer.receipt import Origin, load_pack_receipts
from market.installer.taken import Taken, find_taken
from market.installer.tree_state import TreeState, read_unit
from market.names import parse_digest, parse_publisher_name
from market.pack.inspect import Given, inspect_pack
from market.pack.record import Record, parse_record
from market.resolve.candidates import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.client.indexes import Indexes
    from market.client.wire import ReleaseSummary
    from market.installer.machine import Lack, Machine
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.model import Needs
    from market.names import Version
    from market.resolve.candidates import PassedOver
    from market.resolve.resolve import Pick


class PlanAction(StrEnum):
    """What is going to happen to a pack."""

    INSTALL = "install"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    REINSTALL = "reinstall"
    KEEP = "keep"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class SkillLack:
    """Something that a skill, or its whole pack, needs and this machine lacks."""

    skill: str
    lack: Lack


@dataclass(frozen=True, slots=True)
class PackFacts:
    """What is known of a pack before it is installed. `download_size` is 0 where nothing is downloaded.

    `composition` is that of a wheel that arrived, or that comes without its dependencies; `requires` says what the code of one
    that didn't arrive depends on, and is None where only its file says so.
    """

    name: str
    version: str
    publisher: str
    origin: Origin
    archive_digest: str
    tree_digest: str
    record: Record
    skills: tuple[tuple[str, str, str], ...]
    powers: tuple[Power, ...]
    needs: tuple[tuple[str, tuple[Needs, Needs]], ...]
    download_size: int = 0
    composition: Composition | None = None
    requires: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class PlannedPack:
    """One line of a plan. `facts` is None where the pack stays or goes. `skills` there are (name, kind, class)."""

    action: PlanAction
    name: str
    version: str
    old_version: str = ""
    required_by: tuple[str, ...] = ()
    is_asked_for: bool = False
    facts: PackFacts | None = None
    widens: tuple[Widening, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()
    lacks: tuple[SkillLack, ...] = ()
    taken: tuple[Taken, ...] = ()


def preview(
    root: Root,
    picks: Sequence[Pick],
    indexes: Indexes,
    arrivals: Sequence[Arrival],
    machine: Machine,
    *,
    with_dependencies: bool = True,
) -> tuple[PlannedPack, ...]:
    """Return the plan for some picks. Of a pack that didn't arrive, the index's documents are believed.

    `with_dependencies`: whether what the code of wheels depends on comes too.
    """
    arrived = {str(arrival.verified.name): arrival for arrival in arrivals}
    ordered = sorted(picks, key=lambda pick: not pick.is_asked_for)
    plan = [_plan(root, pick, indexes, arrived.get(pick.name), with_dependencies) for pick in ordered]
    taken = find_taken(root, [one.facts for one in plan if one.facts and one.action is not PlanAction.KEEP])
    return tuple(
        replace(planned, lacks=_find_lacks(planned, machine), taken=taken.get(planned.name, ())) for planned in plan
    )


def _plan(root: Root, pick: Pick, indexes: Indexes, arrival: Arrival | None, with_dependencies: bool) -> PlannedPack:
    candidate = pick.candidate
    text = candidate.version.text
    if candidate.standing is Standing.INSTALLED:
        return PlannedPack(
            PlanAction.KEEP, pick.name, text, text, pick.required_by, pick.is_asked_for, passed_over=pick.passed_over
        )
    if arrival is not None:
        facts = _facts_of_arrival(arrival, candidate.release)
    else:
        facts = _facts_of_release(indexes, pick.name, text, with_dependencies)
    old = _read_old(root, pick.name)
    action = _choose_action(old, candidate.version, facts)
    widens = find_widening(old.powers, facts.powers) if old and old.powers is not None else ()
    old_version = old.version.text if old else ""
    return PlannedPack(
        action, pick.name, text, old_version, pick.required_by, pick.is_asked_for, facts, widens, pick.passed_over
    )


def _find_lacks(planned: PlannedPack, machine: Machine) -> tuple[SkillLack, ...]:
    needs = planned.facts.needs if planned.facts else ()
    return tuple(SkillLack(skill, lack) for skill, both in needs for lack in machine.lacks(*both))


@dataclass(frozen=True, slots=True)
class _Old:
    version: Version
    tree_digest: str
    is_intact: bool
    powers: tuple[Power, ...] | None
    lacks_dependencies: bool = False


def _read_old(root: Root, name: str) -> _Old | None:
    """Return what is installed under a name, by its own manifests; None where nothing readable is.

    In a root of layout `skills` no directory is the whole pack, and only receipts are asked.
    """
    if load_layout(root) is Layout.SKILLS:
        receipt = load_pack_receipts(root).get(name)
        return _Old(receipt.version, receipt.release_digest, True, None, _lacks(receipt)) if receipt else None
    try:
        with read_unit(root, name) as reading:
            receipt, folder = reading.receipt, reading.folder
            if receipt is None:
                return None
            given = Given(name=receipt.name, version=receipt.version.text)
            pack = inspect_pack(folder.source, given).pack if folder else None
            powers = powers_of(pack.skills) if pack else ()
            return _Old(
                receipt.version, receipt.tree_digest, reading.state is TreeState.INTACT, powers, _lacks(receipt)
            )
    except NotFound:
        return None


def _lacks(receipt: Receipt) -> bool:
    return receipt.composition is not None and bool(receipt.composition.left_out)


def _choose_action(old: _Old | None, version: Version, facts: PackFacts) -> PlanAction:
    if old is None:
        return PlanAction.INSTALL
    if old.version != version:
        return PlanAction.UPGRADE if old.version < version else PlanAction.DOWNGRADE
    is_same = old.is_intact and old.tree_digest == facts.tree_digest
    if old.lacks_dependencies and facts.composition is None:
        # A dry run: where nothing more is wanted, the installed pack itself would have been the arrival.
        return PlanAction.REINSTALL
    return PlanAction.KEEP if is_same else PlanAction.REINSTALL


def _facts_of_arrival(arrival: Arrival, release: ReleaseSummary | None) -> PackFacts:
    verified = arrival.verified
    return PackFacts(
        verified.name,
        verified.version.text,
        arrival.publisher,
        arrival.origin,
        verified.archive_digest,
        verified.tree_digest,
        verified.record,
        tuple((skill.name, str(skill.kind), str(skill.skill_class)) for skill in verified.pack.skills),
        powers_of(verified.pack.skills),
        tuple((skill.name, (verified.pack.needs, skill.needs)) for skill in verified.pack.skills),
        release.archive.size if release else 0,
        compose(verified),
    )


def _facts_of_release(indexes: Indexes, name: str, version: str, with_dependencies: bool) -> PackFacts:
    release = indexes.release(name, version)
    try:
        record = parse_record(release.record)
    except MarketError as error:
        error.hint = error.hint or "tell the index's operator"
        raise
    client = indexes.find(name).client
    requires = read_announced(client, release)
    if requires is None and not with_dependencies:
        requires = ()
    is_alone = bool(requires) and not with_dependencies
    return PackFacts(
        name,
        release.version,
        str(parse_publisher_name(release.publisher)),
        Origin("index", client.archive_url(release), client.url),
        release.archive.digest,
        release.tree_digest,
        record,
        tuple((skill.name, skill.kind, skill.skill_class) for skill in release.skills),
        powers_of_summaries(release.skills),
        tuple((skill.name, (parse_needs(release.needs), parse_needs(skill.needs))) for skill in release.skills),
        release.archive.size,
        Composition(parse_digest(release.tree_digest), left_out=requires or ()) if is_alone else None,
        requires,
    )
