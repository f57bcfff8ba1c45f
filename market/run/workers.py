"""All workers of this process: which crew serves which tree, when a new version takes over, when an idle worker ends.

A version that takes the place of one at work is admitted to the registry when its own worker is up and checked; calls go on in
the old one until then. What a worker finds wrong with its pack's code becomes the state of its skills. Nothing of a pack runs
before somebody called it: a version that nobody used is admitted as it is.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from market.errors import MarketError, Unavailable
from market.registry.unit import unit_of
from market.run import limits
from market.run.crew import Crew
from market.run.lacking_code import explain
from market.run.lease import lease_unit
from market.run.tree_code import blame, declared_functions, first_runnable, label_of, tree_key
from market.run.worker_link import Worker
from market.run.worker_reply import WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from market.cancellation import Cancellation
    from market.hookspecs import Target
    from market.registry.registry import Registry
    from market.registry.snapshot import Snapshot
    from market.registry.unit import LoadedUnit, UnitId
    from market.run.tree_code import Faults, TreeKey

LOOK_SECONDS = 5.0
"""How often idle workers, and packs to be tried again, are looked for, at most."""

_log = logging.getLogger("market.run")


@dataclass(slots=True)
class _Code:
    """One state of a tree: its crew, what its workers found, and when it is tried again if none could start.

    `checked` is false while a version waits for its first worker, `admitted` until the registry has it.
    """

    skill: Target
    crew: Crew
    faults: Faults = field(default_factory=dict)
    checked: bool = True
    admitted: bool = True
    retry_at: float = 0.0
    pause: float = 0.0


class Workers:
    """The crews by tree. `siblings` returns all skills of a skill's pack, so that the worker's code is checked as a whole.

    `refresh` has units read again, when what is known of their code changed.
    """

    def __init__(
        self,
        siblings: Callable[[Target], Iterable[Target]] = lambda skill: (skill,),
        *,
        refresh: Callable[[Iterable[UnitId]], None] = lambda _: None,
        processes: int = limits.WORKER_PROCESSES,
        idle_seconds: float = limits.WORKER_IDLE_SECONDS,
        start_seconds: float = limits.WORKER_START_SECONDS,
        retry_seconds: float = limits.RETRY_SECONDS,
        memory_bytes: int = limits.CALL_MEMORY_BYTES,
    ) -> None:
        self._siblings = siblings
        self._refresh = refresh
        self._processes = processes
        self._idle_seconds = idle_seconds
        self._start_seconds = start_seconds
        self._retry_seconds = retry_seconds
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._codes: dict[TreeKey, _Code] = {}
        self._closed = threading.Event()
        self._is_watched = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def crew(self, skill: Target) -> Crew:
        """Return the crew of a skill's tree; it has no process yet if nobody has called it. Raises `Unavailable` after `close`."""
        key = tree_key(skill)
        if (found := self._codes.get(key)) is not None:
            return found.crew
        made = self._make(skill, self._siblings(skill))
        with self._lock:
            if self._closed.is_set():
                raise Unavailable("the workers were stopped", hint="try again when the host runs")
            return self._codes.setdefault(key, made).crew

    def admit(self, before: LoadedUnit | None, after: LoadedUnit) -> LoadedUnit | None:
        """Say how a unit stands that was read anew; None until the worker of one that takes over from code at work is up.

        See `market.registry.registry.Registry.admit_by`.
        """
        skill = first_runnable(after)
        if skill is None:
            return after
        key = tree_key(after)
        with self._lock:
            code = self._codes.get(key)
            if self._closed.is_set() or (code is None and not self._is_at_work(before)):
                return after
            if code is not None and code.checked:
                code.admitted = True
                code.crew.stand_again()
                return blame(after, code.faults)
            if code is None:
                code = self._codes[key] = replace(self._make(skill, after.skills), checked=False, admitted=False)
                threading.Thread(target=self._check, args=(code, after.unit), name="worker-check", daemon=True).start()
        return None

    def follow(self, snapshot: Snapshot, _events: Sequence[object] = ()) -> None:
        """Drain the crews whose tree is no longer the registered one."""
        with self._lock:
            gone = [code for key, code in self._codes.items() if code.admitted and not _stands(snapshot, key, code)]
        self._drop(gone)

    def forget(self) -> None:
        """Forget what is wrong with any pack's code: what it lacked may have been provided. The next call finds out."""
        # One that waits for its admission is being looked at just now.
        faulty = [code for code in self._list() if code.faults and code.admitted]
        self._drop(faulty)
        self._refresh([unit_of(code.skill) for code in faulty])

    def pids(self) -> tuple[int, ...]:
        """Return the processes of all crews that take calls."""
        return tuple(pid for code in self._list() for pid in code.crew.pids)

    def close(self) -> None:
        """End all workers, and return when they are gone: what runs is killed, idle ones end in peace, all at once."""
        with self._lock:
            self._closed.set()
            codes = list(self._codes.values())
            self._codes.clear()
        for code in codes:
            code.crew.interrupt()
        deadline = time.monotonic() + limits.WORKER_STOP_SECONDS + limits.KILL_SECONDS
        for code in codes:
            code.crew.wait_until_gone(max(0.0, deadline - time.monotonic()))

    def _list(self) -> list[_Code]:
        with self._lock:
            return list(self._codes.values())

    def _drop(self, codes: Iterable[_Code]) -> None:
        for code in codes:
            key = tree_key(code.skill)
            with self._lock:
                # By then another may stand for this tree, which somebody else made.
                if self._codes.get(key) is code:
                    del self._codes[key]
            code.crew.retire()

    def _make(self, skill: Target, siblings: Iterable[Target]) -> _Code:
        functions = declared_functions(siblings)
        crew = Crew(skill.pack, lambda stop: self._start(skill, functions, stop), self._processes)
        return _Code(skill, crew, pause=self._retry_seconds)

    def _is_at_work(self, before: LoadedUnit | None) -> bool:
        code = self._codes.get(tree_key(before)) if before is not None else None
        return code is not None and code.crew.has_workers

    def _start(self, skill: Target, functions: dict[str, tuple[str, str]], stop: Cancellation) -> Worker:
        with lease_unit(skill) as pack_fd:
            try:
                worker = Worker(pack_fd, functions, label_of(skill), self._memory_bytes, self._start_seconds, stop)
            except WorkerLost as error:
                text = explain(skill, str(error))
                if not stop.why:
                    # Below the first line is what the code printed, which isn't a sentence.
                    self._note(skill, dict.fromkeys(functions, text.partition("\n")[0]), can_heal=True)
                raise type(error)(text) from None
        try:
            self._note(skill, {name: explain(skill, lack.why) for name, lack in worker.hello.offers.items() if lack})
        except BaseException:
            worker.kill()
            raise
        return worker

    def _note(self, skill: Target, faults: Faults, *, can_heal: bool = False) -> None:
        """Remember what a start showed; where that is news, have the unit read again so that its skills stand accordingly."""
        with self._lock:
            code = self._codes.get(tree_key(skill))
            if code is None:
                return
            if not self._is_watched:
                threading.Thread(target=self._look, name="worker-watch", daemon=True).start()
                self._is_watched = True
            code.retry_at = time.monotonic() + code.pause if can_heal else 0.0
            code.pause = min(code.pause * 2, limits.MAX_RETRY_SECONDS) if can_heal else self._retry_seconds
            is_news, code.faults = code.checked and faults != code.faults, faults
        if is_news:
            # On a thread of its own: who started the worker makes a call, and shall not wait for the disk.
            threading.Thread(target=self._refresh, args=([unit_of(skill)],), name="worker-news", daemon=True).start()

    def _check(self, code: _Code, unit: UnitId) -> None:
        """Start the worker of a version that waits for its admission, and have it admitted, as good as it is."""
        _log.info("starting %s %s; calls go on in the version before", code.skill.pack, code.skill.version)
        self._warm(code)
        code.checked = True
        self._refresh([unit])
        if not code.admitted:
            # Meanwhile another version took its place, or nothing did.
            self._drop([code])

    def _warm(self, code: _Code) -> None:
        skill = code.skill
        try:
            code.crew.warm()
        except MarketError as error:
            _log.warning("the worker of %s %s can't serve: %s: %s", skill.pack, skill.version, error.message, error.why)
        except Exception:
            # Nobody waits here to whom it could be told, and the version must not wait for its admission for ever.
            _log.exception("the worker of %s %s can't serve", skill.pack, skill.version)

    def _look(self) -> None:
        while not self._closed.wait(min(LOOK_SECONDS, self._idle_seconds / 2, self._retry_seconds / 2)):
            for code in self._list():
                code.crew.stop_idle(self._idle_seconds)
                if code.retry_at and code.retry_at <= time.monotonic():
                    code.retry_at = 0.0
                    # On a thread of its own: one that never answers must not keep the others waiting.
                    threading.Thread(target=self._warm, args=(code,), name="worker-retry", daemon=True).start()


def _stands(snapshot: Snapshot, key: TreeKey, code: _Code) -> bool:
    unit = snapshot.units.get(unit_of(code.skill))
    return unit is not None and tree_key(unit) == key


class WorkerOptions(TypedDict, total=False):
    """What `Workers` takes beside its registry; times in seconds."""

    processes: int
    idle_seconds: float
    start_seconds: float
    retry_seconds: float
    memory_bytes: int


def follow_registry(registry: Registry, **options: Unpack[WorkerOptions]) -> Workers:
    """Return the workers of a registry's packs: each change of it is theirs, and what they find wrong with code is the skills' state."""
    workers = Workers(find_siblings(registry), refresh=registry.refresh, **options)
    registry.admit_by(workers.admit)
    registry.subscribe(workers.follow)
    return workers


def find_siblings(registry: Registry) -> Callable[[Target], Iterable[Target]]:
    """Return what finds all skills of a skill's pack in a registry; a skill that isn't there any more stands for itself."""

    def find(skill: Target) -> Iterable[Target]:
        unit = registry.snapshot.units.get(unit_of(skill))
        return unit.skills if unit is not None and unit.skills else (skill,)

    return find
