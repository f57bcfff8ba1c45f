"""The registry of one process: its roots, the current snapshot, and how a change on the disk gets into it.

Readers take `snapshot` and keep it as long as they like: it is replaced by one assignment, never changed. Writers take turns.
When something changed is `watch.py`'s to notice.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from market.model import State
from market.registry.log_lines import PREFIX, format_events
from market.registry.reconcile import reconcile
from market.registry.roots import RootReading, installed_names, is_link, is_own_unit, is_unit_folder, read_root
from market.registry.snapshot import Snapshot
from market.registry.tree_marks import mark_file, scan_tree
from market.registry.unit import UnitId, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from market.registry.live import LiveSkill
    from market.registry.reconcile import Event
    from market.registry.unit import LoadedUnit

    Listener = Callable[[Snapshot, Sequence[Event]], None]
    Admit = Callable[[LoadedUnit | None, LoadedUnit], LoadedUnit | None]

LOAD_BATCH_UNITS = 500
"""How many units of the first load are read before they are shown."""
RESCAN_PAUSE_EVERY_UNITS = 200
RESCAN_PAUSE_SECONDS = 0.002
"""A rescan of many units steps aside this often, so that calls don't wait for it."""

_log = logging.getLogger("market.registry")


class Registry:
    """The skills that are live in this process. `load_unit` turns a directory into skills; None means that nothing stands there.

    `find_more` names units outside the roots; what they claim comes after everything in the roots.
    """

    def __init__(
        self,
        roots: Iterable[str],
        load_unit: Callable[[UnitId], LoadedUnit | None],
        find_more: Callable[[], Iterable[UnitId]] = lambda: (),
    ) -> None:
        self.roots = tuple(dict.fromkeys(roots))
        self._load_unit = load_unit
        self._find_more = find_more
        self._snapshot = Snapshot(self.roots)
        self._writing = threading.RLock()
        self._settled = threading.Condition(self._writing)
        self._listeners: list[Listener] = []
        self._admit: Admit = lambda _, after: after
        self._waiting: dict[UnitId, LoadedUnit] = {}
        self._unusable: dict[str, str] = {}

    @property
    def snapshot(self) -> Snapshot:
        """The current state, immutable."""
        return self._snapshot

    def subscribe(self, listener: Listener) -> None:
        """Have a function called after each change with the new snapshot and what happened; it must not block."""
        self._listeners.append(listener)

    def admit_by(self, admit: Admit) -> None:
        """Have a function asked before a unit as it was read takes the place of the one that stands, or of none; it must not block.

        It returns the unit as it shall stand, or None: not yet. Then the old one stays until the function's owner has the unit
        read again by `refresh`.
        """
        self._admit = admit

    def wait_until_settled(self, seconds: float, units: Iterable[UnitId] | None = None) -> bool:
        """Wait until no unit waits for its admission, or none of the given ones; False if the time ran out."""
        wanted = None if units is None else frozenset(units)
        with self._settled:
            return self._settled.wait_for(
                lambda: not self._waiting if wanted is None else wanted.isdisjoint(self._waiting), seconds
            )

    def load(self) -> int:
        """Read every root for the first time and return how many skills are registered. Nothing on the disk makes it fail."""
        for root in self.roots:
            units = self._read_root(root).units
            for start in range(0, len(units), LOAD_BATCH_UNITS):
                self.refresh(units[start : start + LOAD_BATCH_UNITS])
        self._rescan_more()
        return len(self._snapshot.skills)

    def refresh(self, units: Iterable[UnitId]) -> None:
        """Read the named units again, whatever they look like, and put the result into the snapshot at once."""
        with self._writing:
            self._apply({unit: self._load_unit(unit) for unit in units})

    def refresh_names(self, root: str, names: Iterable[str]) -> tuple[UnitId, ...]:
        """Read what stands under some names of a root and return the units this touched. The cost doesn't depend on the others."""
        with self._writing:
            known = self._snapshot.units
            if is_own_unit(root) != (UnitId(root, "") in known):
                self._refresh_root(root)
                return tuple(unit for unit in self._snapshot.units if unit.root == root)
            units = self._named_units(root, names)
            self._apply({unit: self._load_unit(unit) for unit in units})
            if any(is_link(unit.path) for unit in units):
                self._rescan_more()
            return units

    def rescan(self) -> None:
        """Look at every file of every root and read again what changed: edits inside units, and events that got lost."""
        for root in self.roots:
            self._rescan_root(root)
        self._rescan_more()

    def recheck(self, units: Iterable[UnitId]) -> None:
        """Read again those of the given units whose files changed since they were read."""
        stale = [unit for unit in units if self._is_stale(unit)]
        if stale:
            self.refresh(stale)

    def recheck_watched(self, skills: Iterable[LiveSkill]) -> None:
        """Read again the units of those skills whose manifest, entry or directory changed: cheap enough before every use."""
        units = self._snapshot.units
        wanted = {unit for skill in skills if (unit := unit_of(skill)) in units}
        stale = [unit for unit in wanted if _is_watched_stale(self._waiting.get(unit, units[unit]))]
        if stale:
            self.refresh(stale)

    def refresh_skill(self, skill: LiveSkill) -> None:
        """Read the unit of a skill again, because somebody found another tree in its place."""
        self.refresh([unit_of(skill)])

    def find_current(self, key: str) -> LiveSkill | None:
        """Return the skill under a key as it stands on the disk now, or None."""
        found = self._snapshot.find(key)
        if found is None:
            return None
        self.recheck_watched([found])
        return self._snapshot.find(key)

    def _named_units(self, root: str, names: Iterable[str]) -> tuple[UnitId, ...]:
        known = self._snapshot.units
        if UnitId(root, "") not in known:
            return tuple(
                UnitId(root, name)
                for name in names
                if is_unit_folder(root, name, self.roots) or UnitId(root, name) in known
            )
        installed = installed_names(root)
        own = tuple(UnitId(root, name) for name in names if name in installed or UnitId(root, name) in known)
        return UnitId(root, ""), *own

    def _refresh_root(self, root: str) -> None:
        with self._writing:
            standing = self._read_root(root).units
            gone = [unit for unit in self._snapshot.units if unit.root == root and unit not in set(standing)]
            self._apply({**dict.fromkeys(gone), **{unit: self._load_unit(unit) for unit in standing}})

    def _rescan_root(self, root: str) -> None:
        standing = set(self._read_root(root).units)
        known = {unit for unit in self._snapshot.units if unit.root == root}
        stale = [
            unit for number, unit in enumerate(sorted(standing & known, key=_by_name)) if self._is_stale(unit, number)
        ]
        changed = sorted((standing - known) | (known - standing), key=_by_name) + stale
        for start in range(0, len(changed), LOAD_BATCH_UNITS):
            self.refresh(changed[start : start + LOAD_BATCH_UNITS])

    def _rescan_more(self) -> None:
        try:
            standing = set(self._find_more())
        except Exception:
            # Whoever looks there runs into what others left: the roots are served all the same, and the next rescan looks again.
            _log.exception("%slooking for skills outside the roots failed", PREFIX)
            return
        known = {unit for unit in self._snapshot.units if unit.root not in self.roots}
        stale = {unit for unit in standing & known if self._is_stale(unit)}
        with self._writing:
            # One that is found no more may stand where it was: its link is gone, or its distribution.
            gone = dict.fromkeys(sorted(known - standing, key=_by_name))
            self._apply(
                {**gone, **{unit: self._load_unit(unit) for unit in sorted((standing - known) | stale, key=_by_name)}}
            )

    def _read_root(self, root: str) -> RootReading:
        reading = read_root(root, self.roots)
        if reading.why != self._unusable.get(root, ""):
            self._unusable[root] = reading.why
            _log.warning(
                "%sroot %s %s", PREFIX, root, f"is skipped: {reading.why}" if reading.why else "is there again"
            )
        return reading

    def _is_stale(self, unit: UnitId, number: int = 1) -> bool:
        if number % RESCAN_PAUSE_EVERY_UNITS == 0:
            time.sleep(RESCAN_PAUSE_SECONDS)
        known = self._waiting.get(unit) or self._snapshot.units.get(unit)
        left_out = installed_names(unit.root) if not unit.name else frozenset()
        if known is None or any(skill.state is State.INELIGIBLE for skill in known.skills):
            # What a skill lacks may have been provided, which no file of its tree shows.
            return True
        # The directory's own time too: it is given a new one when what is known of the pack changed, and not the pack.
        top = next((mark for file, mark in known.watched if not file), None)
        return scan_tree(unit.path, left_out).signature != known.signature or (
            top is not None and mark_file(unit.path) != top
        )

    def _apply(self, readings: dict[UnitId, LoadedUnit | None]) -> None:
        result = reconcile(self._snapshot, self._admitted(readings))
        self._snapshot = result.snapshot
        for level, text in format_events(result.events):
            _log.log(level, "%s", text)
        if result.events:
            for listener in self._listeners:
                listener(result.snapshot, result.events)

    def _admitted(self, readings: dict[UnitId, LoadedUnit | None]) -> dict[UnitId, LoadedUnit | None]:
        """Return the readings that may take their places now; the others wait."""
        ready: dict[UnitId, LoadedUnit | None] = {}
        for unit, reading in readings.items():
            admitted = reading and self._admit(self._snapshot.units.get(unit), reading)
            if reading is not None and admitted is None:
                self._waiting[unit] = reading
            else:
                self._waiting.pop(unit, None)
                ready[unit] = admitted
        self._settled.notify_all()
        return ready


def _is_watched_stale(known: LoadedUnit) -> bool:
    path = known.unit.path
    return any(mark_file(f"{path}/{file}" if file else path) != mark for file, mark in known.watched)


def _by_name(unit: UnitId) -> str:
    return unit.name
