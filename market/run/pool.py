"""Which supervisor is free: a bounded, warm set of them, shared by the host's threads."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.cancellation import NEVER
from market.errors import Unavailable
from market.run.limits import CALL_MEMORY_BYTES, KILL_SECONDS, QUEUE_SECONDS, SUPERVISORS, TERM_GRACE_SECONDS
from market.run.supervision import Supervisor

if TYPE_CHECKING:
    from types import TracebackType

    from market.cancellation import Cancellation
    from market.run.supervision import Request, Result


@dataclass(frozen=True, slots=True)
class Load:
    """How busy a pool is. `queue_seconds` is the sum of all waits, `replaced` counts supervisors that died."""

    size: int
    running: int
    waiting: int
    calls: int
    replaced: int
    queue_seconds: float


class SupervisorPool:
    """Up to `size` supervisors, started when first needed and then kept. Safe to use from any thread.

    The most recently used one is taken first: its memory is warm, and surplus ones stay asleep.
    """

    def __init__(
        self, size: int = SUPERVISORS, queue_seconds: float = QUEUE_SECONDS, memory_bytes: int = CALL_MEMORY_BYTES
    ) -> None:
        self._size = size
        self._patience = queue_seconds
        self._memory_bytes = memory_bytes
        self._free = size
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)
        self._idle: list[Supervisor] = []
        self._busy: set[Supervisor] = set()
        self._closed = False
        self._waiting = self._calls = self._replaced = 0
        self._queue_seconds = 0.0

    def __enter__(self) -> SupervisorPool:
        """Return the pool; it is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the pool."""
        self.close()

    def warm(self, count: int = 1) -> None:
        """Start supervisors ahead of the first call, so that it needn't wait for an interpreter."""
        with self._lock:
            while not self._closed and len(self._idle) + len(self._busy) < min(count, self._size):
                self._idle.append(Supervisor(self._memory_bytes))

    def run(self, request: Request, pack_fd: int, cancellation: Cancellation = NEVER) -> Result:
        """Run a request in the directory `pack_fd` as soon as a supervisor is free.

        Raises SupervisorDied when it crashed under this call (the next call gets a new one), Unavailable when none
        became free in time, Cancelled when the call was cancelled before.
        """
        waited = self._wait_for_slot(cancellation)
        try:
            supervisor = self._take(waited)
            try:
                result = supervisor.run(request, pack_fd, cancellation)
            except BaseException:
                self._discard(supervisor)
                raise
            self._put_back(supervisor)
            return replace(result, queue_seconds=waited)
        finally:
            with self._freed:
                self._free += 1
                self._freed.notify_all()

    def load(self) -> Load:
        """Return the present load and the sums since the start."""
        with self._lock:
            return Load(self._size, len(self._busy), self._waiting, self._calls, self._replaced, self._queue_seconds)

    def close(self) -> None:
        """End all supervisors, with what they run: the callers get SupervisorDied. Returns when all are gone."""
        with self._lock:
            self._closed = True
            idle = tuple(self._idle)
            self._idle.clear()
            for supervisor in self._busy:
                supervisor.interrupt()
        for supervisor in idle:
            supervisor.close()
        # A slot comes back when its call's thread has buried its supervisor.
        with self._freed:
            self._freed.wait_for(lambda: self._free == self._size, TERM_GRACE_SECONDS + KILL_SECONDS)

    def _wait_for_slot(self, cancellation: Cancellation) -> float:
        started = time.monotonic()
        with cancellation.on_cancel(self._wake), self._freed:
            self._waiting += 1
            try:
                is_free = self._freed.wait_for(lambda: cancellation.why or self._free, self._patience)
            finally:
                self._waiting -= 1
            cancellation.check()
            if not is_free:
                raise Unavailable(
                    f"all {self._size} supervisors were busy for {self._patience:g} s",
                    why="each runs one call at a time",
                    hint="try again later, or start the host with more supervisors",
                )
            self._free -= 1
        return time.monotonic() - started

    def _wake(self) -> None:
        with self._freed:
            self._freed.notify_all()

    def _take(self, waited: float) -> Supervisor:
        with self._lock:
            if self._closed:
                raise Unavailable("the host is stopping", hint="try again when it runs")
            self._calls += 1
            self._queue_seconds += waited
            supervisor = self._idle.pop() if self._idle else None
            if supervisor is not None and not supervisor.is_alive():
                self._replaced += 1
                supervisor.close()
                supervisor = None
            supervisor = supervisor or Supervisor(self._memory_bytes)
            self._busy.add(supervisor)
            return supervisor

    def _put_back(self, supervisor: Supervisor) -> None:
        with self._lock:
            self._busy.discard(supervisor)
            if not self._closed:
                self._idle.append(supervisor)

    def _discard(self, supervisor: Supervisor) -> None:
        with self._lock:
            self._busy.discard(supervisor)
            self._replaced += 1
        supervisor.close()
