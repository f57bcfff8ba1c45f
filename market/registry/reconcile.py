"""From a snapshot and what was read anew to the next snapshot, and the events on the way. Pure.

Only names that a changed unit claims, or claimed, are decided again; everything else is carried over by copying a dict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from market.model import State
from market.registry.snapshot import PACK_SEPARATOR, Claim, Snapshot, claim_key, plain_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from market.registry.live import LiveSkill
    from market.registry.unit import LoadedUnit, UnitId

CLASS_MISSING_RULE = "class-missing"


class EventKind(StrEnum):
    """What happened to a manifest. A copy is a duplicate that is the same to the last byte, so nobody loses anything."""

    REGISTERED = "registered"
    DUPLICATE = "duplicate"
    COPY = "copy"
    DROPPED = "dropped"
    CLASS_MISSING = "class-missing"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one manifest. `skill` is None for those that didn't load."""

    kind: EventKind
    path: str
    name: str
    cause: str = ""
    skill: LiveSkill | None = None


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The next snapshot and how it differs."""

    snapshot: Snapshot
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class _Keyed:
    """The next snapshot's skills by key, and the keys by pack; `moved` holds the packs of which some key came or went."""

    skills: dict[str, LiveSkill]
    packs: dict[str, tuple[str, ...]]
    moved: dict[str, set[str]]

    def keys_of(self, pack: str) -> set[str]:
        if pack not in self.moved:
            self.moved[pack] = set(self.packs.get(pack, ()))
        return self.moved[pack]

    def settle_packs(self) -> None:
        for pack, keys in self.moved.items():
            if keys:
                self.packs[pack] = tuple(sorted(keys))
            else:
                self.packs.pop(pack, None)


def reconcile(before: Snapshot, readings: Mapping[UnitId, LoadedUnit | None]) -> Reconciled:
    """Return the snapshot in which the given units stand as read; None means that the unit is gone."""
    changed = {unit: reading for unit, reading in readings.items() if before.units.get(unit) != reading}
    if not changed:
        return Reconciled(before, ())
    # `copy` of the proxy, not `dict(...)` of it: that would hash every key anew.
    units = before.units.copy()
    for unit, reading in changed.items():
        if reading is None:
            units.pop(unit, None)
        else:
            units[unit] = reading
    claims, affected = _claim_again(before, changed)
    keyed, skill_events = _decide(before, claims, affected)
    after = Snapshot(
        before.roots,
        MappingProxyType(units),
        MappingProxyType(claims),
        MappingProxyType(keyed.skills),
        tuple(sorted(keyed.skills)),
        MappingProxyType(keyed.packs),
    )
    return Reconciled(after, (*_dropped_events(before, changed), *skill_events))


def manifest_path(skill: LiveSkill) -> str:
    """Return the absolute path of the manifest that a log line names: skill.json where there is one."""
    side = skill.skill.command or skill.skill.guide
    return f"{skill.unit}/{side.manifest}" if side else skill.unit


def _claim_again(
    before: Snapshot, changed: Mapping[UnitId, LoadedUnit | None]
) -> tuple[dict[str, tuple[Claim, ...]], list[str]]:
    claims = before.claims.copy()
    fresh: dict[str, list[Claim]] = {}
    for unit in changed:
        if (old := before.units.get(unit)) is not None:
            fresh.update({claim_key(skill.skill.name): [] for skill in old.skills})
    for unit, reading in changed.items():
        for skill in reading.skills if reading else ():
            fresh.setdefault(claim_key(skill.skill.name), []).append(Claim(unit, skill))
    ranks = {root: number for number, root in enumerate(before.roots)}
    for name, added in fresh.items():
        kept = [claim for claim in claims.get(name, ()) if claim.unit not in changed]
        wanted = [*kept, *added]
        if len(wanted) > 1:
            wanted.sort(key=lambda claim: _rank(ranks, claim))
        if wanted:
            claims[name] = tuple(wanted)
        else:
            claims.pop(name, None)
    return claims, list(fresh)


def _rank(ranks: Mapping[str, int], claim: Claim) -> tuple[int, str, str]:
    return ranks.get(claim.unit.root, len(ranks)), claim.unit.name, manifest_path(claim.skill)


def _decide(
    before: Snapshot, claims: Mapping[str, tuple[Claim, ...]], affected: Iterable[str]
) -> tuple[_Keyed, list[Event]]:
    keyed = _Keyed(before.skills.copy(), before.packs.copy(), {})
    events: list[Event] = []
    for name in affected:
        old = _assign(before.claims.get(name, ()))
        new = _assign(claims.get(name, ()))
        for key, skill in old.items():
            del keyed.skills[key]
            keyed.keys_of(skill.pack).discard(key)
        for key, skill in new.items():
            keyed.skills[key] = skill
            keyed.keys_of(skill.pack).add(key)
        events.extend(_skill_events(old, new))
    keyed.settle_packs()
    return keyed, events


def _assign(claims: tuple[Claim, ...]) -> dict[str, LiveSkill]:
    """Give the plain key to the first claim and a qualified one to each other."""
    assigned: dict[str, LiveSkill] = {}
    for claim in claims:
        name = plain_key(claim.skill.skill.name)
        if not assigned:
            # The loader has set the plain key already; copying ten thousand skills for nothing would be felt.
            assigned[name] = claim.skill if claim.skill.key == name else replace(claim.skill, key=name)
            continue
        key = next(key for key in _qualified_keys(name, claim) if key not in assigned)
        state = State.SHADOWED if claim.skill.is_runnable else claim.skill.state
        assigned[key] = replace(claim.skill, key=key, state=state, shadowed_by=manifest_path(claims[0].skill))
    return assigned


def _qualified_keys(name: str, claim: Claim) -> Iterator[str]:
    """Yield `pack:skill`, then what tells two packs of one name apart."""
    yield f"{claim.skill.pack}{PACK_SEPARATOR}{name}"
    yield f"{plain_key(claim.unit.name)}{PACK_SEPARATOR}{name}"
    number = 2
    while True:
        yield f"{claim.skill.pack}{PACK_SEPARATOR}{name}{PACK_SEPARATOR}{number}"
        number += 1


def _skill_events(old: Mapping[str, LiveSkill], new: Mapping[str, LiveSkill]) -> Iterator[Event]:
    winner = next(iter(new.values()), None)
    for key, skill in new.items():
        if old.get(key) == skill:
            continue
        yield Event(_kind_of(skill, winner), manifest_path(skill), skill.skill.name, skill=skill)
        if any(problem.rule == CLASS_MISSING_RULE for problem in skill.problems):
            yield Event(EventKind.CLASS_MISSING, manifest_path(skill), skill.skill.name, skill=skill)
    for key in old.keys() - new.keys():
        yield Event(EventKind.REMOVED, manifest_path(old[key]), old[key].skill.name, skill=old[key])


def _kind_of(skill: LiveSkill, winner: LiveSkill | None) -> EventKind:
    if winner is None or not skill.shadowed_by:
        return EventKind.REGISTERED
    is_copy = skill.tree_digest == winner.tree_digest != "" and skill.skill == winner.skill
    return EventKind.COPY if is_copy else EventKind.DUPLICATE


def _dropped_events(before: Snapshot, changed: Mapping[UnitId, LoadedUnit | None]) -> Iterator[Event]:
    for unit, reading in changed.items():
        known = before.units[unit].dropped if unit in before.units else ()
        for row in reading.dropped if reading else ():
            if row not in known:
                yield Event(
                    EventKind.DUPLICATE if row.is_duplicate else EventKind.DROPPED, row.path, row.name, row.cause
                )
