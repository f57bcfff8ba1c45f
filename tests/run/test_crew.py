"""Which worker gets which call: workers here are stand-ins without a process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

import pytest

from market.run import limits
from market.run.crew import Crew, StartFailed
from market.run.executor import Replaced
from market.run.worker_reply import WorkerLate, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.run.worker_link import Worker


class FakeWorker:
    """Takes calls until it is ended."""

    pid = 1
    last_used = 0.0

    def __init__(self) -> None:
        self.alive = True

    def is_alive(self) -> bool:
        return self.alive

    def stop(self) -> None:
        self.alive = False

    kill = interrupt = stop


def starter(count: int) -> tuple[Callable[[object], Worker], list[FakeWorker]]:
    """A way to start so many workers, after which another tree stands in the place."""
    started: list[FakeWorker] = []

    def start(_: object = None) -> Worker:
        if len(started) == count:
            started.append(FakeWorker())
            raise Replaced("another tree stands there")
        started.append(FakeWorker())
        return cast("Worker", started[-1])

    return start, started


def test_calls_that_overlap_get_a_worker_each() -> None:
    start, _ = starter(3)
    crew = Crew("pack", start, 3)
    with crew.borrow() as one, crew.borrow() as two:
        assert one is not two
    with crew.borrow() as again:
        assert again in (one, two)


def test_a_crew_that_can_start_no_more_workers_makes_do_with_those_it_has() -> None:
    start, started = starter(1)
    crew = Crew("pack", start, 4)
    served: list[Worker] = []

    def call() -> None:
        with crew.borrow() as worker:
            served.append(worker)

    with crew.borrow() as first:
        second = threading.Thread(target=call)
        second.start()
        second.join(0.1)
        assert second.is_alive(), "it waits for the first one's worker"
    second.join(5)
    assert served == [first]
    with crew.borrow(), pytest.raises(Replaced):
        crew.retire()
        call()
    assert len(started) == 2, "it tried once"


def test_a_crew_without_any_worker_says_that_its_tree_was_replaced() -> None:
    start, _ = starter(0)
    with pytest.raises(Replaced), Crew("pack", start, 4).borrow():
        pass


def test_a_tree_that_went_and_came_back_is_served_again() -> None:
    started: list[FakeWorker] = []
    is_away = False

    def start(_: object = None) -> Worker:
        if is_away:
            raise Replaced("nothing stands there")
        started.append(FakeWorker())
        return cast("Worker", started[-1])

    crew = Crew("pack", start, 2)
    with crew.borrow():
        is_away = True
        second = threading.Thread(target=lambda: crew.warm())
        second.start()
        second.join(0.1)
        assert second.is_alive(), "as long as one works, calls wait for it"
        is_away = False
        crew.stand_again()
        second.join(5)
        assert not second.is_alive()
    assert len(started) == 2
    is_away = True
    for worker in started:
        worker.stop()
    with pytest.raises(Replaced):
        crew.warm()
    is_away = False
    crew.warm()
    with crew.borrow() as one, crew.borrow() as two:
        assert one is not two


def crash(crew: Crew, error: Exception) -> None:
    with pytest.raises(type(error)), crew.borrow():
        raise error


def test_after_two_crashes_in_a_row_no_worker_is_started_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WORKER_BACKOFF_SECONDS", 30.0)
    start, started = starter(9)
    crew = Crew("pack", start, 4)
    crash(crew, WorkerLost("exit code 3"))
    crash(crew, WorkerLost("exit code 3"))
    with pytest.raises(StartFailed, match="failed 2 times in a row") as caught, crew.borrow():
        pass
    assert (caught.value.why, len(started)) == ("exit code 3", 2)


@pytest.mark.parametrize("error", [WorkerLate("too late"), ValueError("the caller's own")])
def test_what_ends_a_worker_without_its_fault_is_no_crash(error: Exception) -> None:
    crew = Crew("pack", starter(9)[0], 4)
    for _ in range(4):
        crash(crew, error)
    with crew.borrow():
        pass


def test_a_pause_after_crashes_refuses_nobody_while_a_worker_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WORKER_BACKOFF_SECONDS", 30.0)
    crew = Crew("pack", starter(9)[0], 4)
    with crew.borrow() as busy:
        crash(crew, WorkerLost("exit code 3"))
        crash(crew, WorkerLost("exit code 3"))
        with crew.borrow() as other:
            assert other is not busy
    with crew.borrow() as free:
        assert free in (busy, other)
