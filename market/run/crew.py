"""The workers of one pack's tree: one while its calls come one by one, more while they overlap, none while nobody calls."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from market.cancellation import NEVER, Cancellation
from market.errors import Unavailable
from market.run import limits
from market.run.executor import Replaced
from market.run.worker_reply import WorkerLate, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from market.run.worker_link import Worker


class StartFailed(Unavailable):
    """The pack's code can't be loaded; the message names the pack and says why."""


class Crew:
    """Workers for one state of one pack's tree. Safe to use from any thread; a retired crew takes no more calls."""

    def __init__(self, pack: str, start: Callable[[Cancellation], Worker], processes: int) -> None:
        self.pack = pack
        self._start = start
        self._processes = processes
        self._is_replaced = False
        self._changed = threading.Condition()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._leaving: set[Worker] = set()
        self._end = Cancellation()
        self._starting = 0
        self._retired = False
        self._failures = 0
        self._not_before = 0.0
        self._trouble = ""

    @property
    def has_workers(self) -> bool:
        """Whether any process of it runs or is being started."""
        with self._changed:
            return bool(self._idle or self._busy or self._starting)

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that take calls now."""
        with self._changed:
            return tuple(worker.pid for worker in (*self._idle, *self._busy))

    @contextmanager
    def borrow(self, cancellation: Cancellation = NEVER) -> Iterator[Worker]:
        """Hold a worker for one call, started if none is free and the pack has fewer than it may have.

        Raises `Replaced` where the crew is retired, `StartFailed` where the code can't be loaded, `Unavailable` where all
        stay busy, `Cancelled` where the call is cancelled meanwhile. A worker in whose call anything is raised is killed,
        with everything that it started.
        """
        worker = self._take(time.monotonic() + limits.QUEUE_SECONDS, cancellation)
        try:
            yield worker
        except BaseException as error:
            # Too late is the call's own fault, cancelled its caller's wish; every other end of the worker counts as a crash.
            self._lose(
                worker, crashed=isinstance(error, WorkerLost) and not isinstance(error, WorkerLate), why=str(error)
            )
            raise
        self._give_back(worker)

    def warm(self) -> None:
        """Have one worker ready before the first call; raises as `borrow`."""
        with self.borrow():
            pass

    def retire(self) -> None:
        """Take no more calls: idle workers end now, busy ones after their call."""
        with self._changed:
            self._retired = True
            self._dismiss(self._idle)
            self._changed.notify_all()

    def stand_again(self) -> None:
        """Let further workers be started: the crew's own tree stands in its place."""
        with self._changed:
            self._is_replaced = False
            self._changed.notify_all()

    def interrupt(self) -> None:
        """Retire, and kill what runs or is being started: those callers get an error."""
        self.retire()
        self._end.cancel("the workers were stopped")
        with self._changed:
            for worker in self._busy:
                worker.interrupt()

    def stop_idle(self, idle_seconds: float) -> None:
        """End the workers that nobody has called for so long."""
        now = time.monotonic()
        with self._changed:
            self._dismiss([worker for worker in self._idle if now - worker.last_used >= idle_seconds])

    def wait_until_gone(self, seconds: float) -> bool:
        """Wait for the end of every call and process of a retired crew."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not (self._busy or self._idle or self._starting or self._leaving), seconds
            )

    def _take(self, deadline: float, cancellation: Cancellation) -> Worker:
        while True:
            with cancellation.on_cancel(self._wake):
                worker = self._take_free(deadline, cancellation)
            if worker is not None:
                return worker
            try:
                return self._start_one(cancellation)
            except Replaced:
                # A successor stands in the tree's place, and isn't admitted yet: those that run serve until it is.
                with self._changed:
                    self._is_replaced = bool(self._busy or self._idle or self._starting)
                    if not self._is_replaced:
                        raise

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _take_free(self, deadline: float, cancellation: Cancellation) -> Worker | None:
        """Wait for a worker that is free; None where one more may be started, which is then counted as starting."""
        with self._changed:
            while True:
                cancellation.check()
                self._check_open()
                while self._idle:
                    worker = self._idle.pop()
                    if worker.is_alive():
                        self._busy.add(worker)
                        return worker
                    worker.kill()  # it ended between two calls
                if len(self._busy) + self._starting < (1 if self._is_replaced else self._processes):
                    self._starting += 1
                    return None
                if not self._changed.wait(deadline - time.monotonic()):
                    running = len(self._busy) + self._starting
                    why = f"each of its {running} worker processes runs one call at a time"
                    raise Unavailable(f"all workers of {self.pack} stayed busy", why=why, hint="try again later")

    def _check_open(self) -> None:
        if self._retired:
            raise Replaced(f"the pack {self.pack} was replaced or removed since it was found", hint="try again")
        wait = self._not_before - time.monotonic()
        if wait > 0 and not self._idle and not self._busy:
            raise StartFailed(
                f"the worker of {self.pack} failed {self._failures} times in a row and is started again in {wait:.1f} s",
                why=self._trouble,
                hint="correct the pack, or roll back to its earlier version",
            )

    def _start_one(self, cancellation: Cancellation) -> Worker:
        worker: Worker | None = None
        stop = Cancellation()
        try:
            with (
                cancellation.on_cancel(lambda: stop.cancel(cancellation.why)),
                self._end.on_cancel(lambda: stop.cancel(self._end.why)),
            ):
                worker = self._start(stop)
        except WorkerLost as error:
            cancellation.check()
            self._count_failure(str(error))
            raise StartFailed(
                f"the code of {self.pack} can't be run", why=str(error), hint="correct the pack, or roll it back"
            ) from None
        finally:
            with self._changed:
                self._starting -= 1
                if worker is not None:
                    self._busy.add(worker)
                self._changed.notify_all()
        return worker

    def _give_back(self, worker: Worker) -> None:
        with self._changed:
            self._failures = 0
            self._busy.discard(worker)
            self._idle.append(worker)
            if self._retired:
                self._dismiss([worker])
            self._changed.notify_all()

    def _lose(self, worker: Worker, *, crashed: bool, why: str) -> None:
        if crashed:
            self._count_failure(why)
        worker.kill()
        with self._changed:
            self._busy.discard(worker)
            self._changed.notify_all()

    def _count_failure(self, why: str) -> None:
        with self._changed:
            self._failures += 1
            self._trouble = why
            if self._failures > 1:
                pause = limits.WORKER_BACKOFF_SECONDS * 2 ** min(self._failures - 2, 10)
                self._not_before = time.monotonic() + min(pause, limits.MAX_WORKER_BACKOFF_SECONDS)

    def _dismiss(self, workers: Iterable[Worker]) -> None:
        """End idle workers in peace, on threads of their own: who asks for it holds the lock, and may wait for an answer."""
        for worker in tuple(workers):
            self._idle.remove(worker)
            self._leaving.add(worker)
            threading.Thread(target=self._see_off, args=(worker,), name="worker-stop", daemon=True).start()

    def _see_off(self, worker: Worker) -> None:
        worker.stop()
        with self._changed:
            self._leaving.discard(worker)
            self._changed.notify_all()
