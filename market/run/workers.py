"""All workers of this process: which crew serves which tree, when a replaced one drains, and when an idle one ends."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from market.errors import MarketError
from market.model import Kind
from market.pack.entry_python import split_python_entry
from market.registry.unit import UnitId
from market.run import limits
from market.run.crew import Crew
from market.run.lease import lease_unit
from market.run.worker_link import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from market.hookspecs import Target
    from market.registry.live import LiveSkill
    from market.registry.registry import Registry
    from market.registry.snapshot import Snapshot

LOOK_SECONDS = 5.0
"""How often idle workers are looked for, at most."""

TreeKey = tuple[int, int, str]
"""Device and inode of a pack's directory, and the digest of what is in it: an edited tree gets new workers."""

_log = logging.getLogger("market.run")


class Workers:
    """The crews by tree. `siblings` returns all skills of a skill's pack, so that the worker's code is checked as a whole."""

    def __init__(
        self,
        siblings: Callable[[Target], Iterable[Target]] = lambda skill: (skill,),
        *,
        processes: int = limits.WORKER_PROCESSES,
        idle_seconds: float = limits.WORKER_IDLE_SECONDS,
        start_seconds: float = limits.WORKER_START_SECONDS,
    ) -> None:
        self._siblings = siblings
        self._processes = processes
        self._idle_seconds = idle_seconds
        self._start_seconds = start_seconds
        self._lock = threading.Lock()
        self._crews: dict[TreeKey, tuple[Crew, Target]] = {}
        self._closed = threading.Event()
        self._reaper = threading.Thread(target=self._reap, name="worker-idle", daemon=True)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def crew(self, skill: Target) -> Crew:
        """Return the crew of a skill's tree; it has no process yet if nobody has called it."""
        key = tree_key(skill)
        found = self._crews.get(key)
        if found is not None:
            return found[0]
        with self._lock:
            if not self._reaper.is_alive() and not self._closed.is_set():
                self._reaper.start()
            crew, _ = self._crews.setdefault(
                key, (Crew(skill.pack, lambda: self._start(skill), self._processes), skill)
            )
            return crew

    def follow(self, snapshot: Snapshot, _events: Sequence[object] = ()) -> None:
        """Drain the crews whose tree is no longer the registered one. Where one was at work, the tree's successor gets a worker now."""
        with self._lock:
            gone = [
                (key, crew, skill) for key, (crew, skill) in self._crews.items() if not _stands(snapshot, key, skill)
            ]
            for key, _, _ in gone:
                del self._crews[key]
        for _, crew, skill in gone:
            successor = _find_successor(snapshot, skill) if crew.has_workers else None
            crew.retire()
            if successor is not None:
                threading.Thread(target=self._warm, args=(successor,), name="worker-warm", daemon=True).start()

    def pids(self) -> tuple[int, ...]:
        """Return the processes of all crews that take calls."""
        with self._lock:
            crews = [crew for crew, _ in self._crews.values()]
        return tuple(pid for crew in crews for pid in crew.pids)

    def close(self) -> None:
        """End all workers, with what they run."""
        self._closed.set()
        with self._lock:
            crews = [crew for crew, _ in self._crews.values()]
            self._crews.clear()
        for crew in crews:
            crew.interrupt()

    def _start(self, skill: Target) -> Worker:
        targets = {}
        for one in self._siblings(skill):
            target = (
                split_python_entry(one.skill.command.entry)
                if one.skill.command and one.skill.kind is Kind.PYTHON
                else None
            )
            if target is not None:
                targets[one.skill.name] = target
        with lease_unit(skill) as pack_fd:
            # Above the standard streams, which the worker arranges anew.
            return Worker(pack_fd, targets, self._start_seconds)

    def _warm(self, skill: Target) -> None:
        try:
            self.crew(skill).warm()
        except MarketError as error:
            # The next call tries again, and its caller is told.
            _log.warning(
                "the new worker of %s %s does not start: %s: %s", skill.pack, skill.version, error.message, error.why
            )

    def _reap(self) -> None:
        while not self._closed.wait(min(LOOK_SECONDS, self._idle_seconds / 2)):
            with self._lock:
                crews = [crew for crew, _ in self._crews.values()]
            for crew in crews:
                crew.stop_idle(self._idle_seconds)


def find_siblings(registry: Registry) -> Callable[[Target], Iterable[Target]]:
    """Return what finds all skills of a skill's pack in a registry; a skill that isn't there any more stands for itself."""

    def find(skill: Target) -> Iterable[Target]:
        unit = registry.snapshot.units.get(_unit_of(skill))
        return unit.skills if unit is not None and unit.skills else (skill,)

    return find


def tree_key(skill: Target) -> TreeKey:
    """Return which state of which directory a skill was found in."""
    return skill.device, skill.inode, skill.tree_digest


def _unit_of(skill: Target) -> UnitId:
    return UnitId(skill.root, os.path.relpath(skill.unit, skill.root) if skill.unit != skill.root else "")


def _stands(snapshot: Snapshot, key: TreeKey, skill: Target) -> bool:
    unit = snapshot.units.get(_unit_of(skill))
    return unit is not None and (unit.device, unit.inode, unit.tree_digest) == key


def _find_successor(snapshot: Snapshot, skill: Target) -> LiveSkill | None:
    unit = snapshot.units.get(_unit_of(skill))
    skills = unit.skills if unit is not None else ()
    return next((one for one in skills if one.skill.kind is Kind.PYTHON and one.is_runnable), None)
