"""Wheel packs: the first call, calls in a warm worker, an upgrade, memory, fifty packs in one host; and the index beside its peers."""

from __future__ import annotations

import io
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import simple_index
from benchmarks.measure import Sample, Table, process_tree, repeat
from market.installer.dependencies import DependencyTerms
from market.installer.receipt import Origin
from market.installer.root import open_root
from market.installer.transaction import install_packs, lock_root
from market.installer.wheels import acquire_wheel
from market.model import Outcome, OutcomeKind
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.run.limits import RELOOK_SECONDS
from market.run.python import PythonExecutor
from market.run.workers import follow_registry
from tests.wheels import a_code_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.run.workers import Workers

WARM_CALLS = 3000
COLD_STARTS = 15
UPGRADES = 20
PACKS = 50
WARM_BUDGET_US = 150.0
ARGS = '{"name": "Ada", "numbers": [1, 2, 3]}'


@dataclass(frozen=True)
class Bench:
    """A root with its registry, and workers that follow it."""

    root: Path
    registry: Registry
    workers: Workers
    executor: PythonExecutor

    def install(self, *wheels: bytes) -> None:
        """Install wheels and register them, as a host does."""
        arrivals = [acquire_wheel(io.BytesIO(one), "", Origin("archive", "x"), DependencyTerms()) for one in wheels]
        with lock_root(open_root(self.root, create=True)) as locked:
            changes = install_packs(locked, arrivals, datetime.now(UTC))
        units = self.registry.refresh_names(str(self.root), [change.name for change in changes])
        self.registry.wait_until_settled(RELOOK_SECONDS, units)

    def call(self, key: str = "echo_py") -> Outcome:
        """Call a skill; anything but success is a fault of the benchmark."""
        outcome = self.executor.execute(self.registry.snapshot.skills[key], ARGS, 30)
        if outcome.kind is not OutcomeKind.OK:
            raise RuntimeError(outcome.error)
        return outcome

    def end(self) -> None:
        """End every worker and wait for it."""
        self.workers.follow(Registry((), lambda _: None).snapshot)
        while self.workers.pids():
            time.sleep(0.001)


@contextmanager
def open_bench() -> Iterator[Bench]:
    """Make a bench in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        registry = Registry([folder], Loader().load)
        with follow_registry(registry) as workers:
            yield Bench(Path(folder), registry, workers, PythonExecutor(workers, {}))


def tables() -> Iterator[Table]:
    """Measure everything."""
    yield calls()
    yield fifty()
    yield from simple_index.tables()


def calls() -> Table:
    """One pack: cold, warm, upgraded."""
    table = Table("One wheel pack")
    with open_bench() as bench:
        bench.install(a_code_wheel())

        def call(_: int) -> None:
            bench.call()

        seconds: list[float] = []
        for _ in range(COLD_STARTS):
            bench.end()
            seconds.extend(repeat(call, 1).seconds)
        add(table, "first call, worker started for it", Sample(tuple(seconds)))
        bench.call()
        warm = repeat(call, WARM_CALLS)
        over = warm.p50 * 1e6 > WARM_BUDGET_US
        table.add(
            "call in a warm worker, p50",
            f"{warm.p50 * 1e6:.0f} us",
            budget=f"<= {WARM_BUDGET_US:g} us",
            within=not over,
        )
        table.add("call in a warm worker, p99", f"{warm.p99 * 1e6:.0f} us")
        wheels = [a_code_wheel(version=f"1.0.{number}") for number in range(1, UPGRADES + 1)]

        def upgrade(number: int) -> None:
            bench.install(wheels[number])
            bench.call()

        add(table, "upgrade: verify, install, switch, first call in the new version", repeat(upgrade, UPGRADES))
    return table


def fifty() -> Table:
    """Many packs in one process, each with its worker."""
    table = Table(f"{PACKS} wheel packs, each called once")
    names = [f"pack-{number:02}" for number in range(PACKS)]
    wheels = [a_code_wheel(ECHO.replace("NAME", key(name)), name=name, skill=key(name)) for name in names]
    with open_bench() as bench:
        installed = repeat(lambda _: bench.install(*wheels), 1)
        table.add("installed in one transaction", f"{installed.p50 * 1e3:.0f} ms")
        called = repeat(lambda number: bench.call(key(names[number])), PACKS)
        add(table, "first call of each", called)
        pids = [pid for keeper in bench.workers.pids() for pid in process_tree(keeper)]
        shared = [memory_megabytes(pid) for pid in pids]
        table.add("processes", f"{len(pids)}")
        table.add("memory a worker with its keeper (proportional set)", f"{sum(shared) / PACKS:.1f} MB")
        warm = repeat(lambda number: bench.call(key(names[number % PACKS])), PACKS * 20)
        table.add("call, round the packs, p50", f"{warm.p50 * 1e6:.0f} us")
    return table


ECHO = "def NAME(params):\n    return params\n"


def key(name: str) -> str:
    """Return a pack's skill."""
    return f"echo_{name.replace('-', '_')}"


def add(table: Table, what: str, sample: Sample) -> None:
    """Add a row of milliseconds."""
    table.add(what, f"p50 {sample.p50 * 1e3:.0f} ms, p99 {sample.p99 * 1e3:.0f} ms")


def memory_megabytes(pid: int) -> float:
    """Return what a process takes of the machine's memory: shared pages count in part."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("Pss:")) / 1024
