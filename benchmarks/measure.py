"""Times, processor seconds and tables: what every benchmark needs."""

from __future__ import annotations

import http.client
import os
import statistics
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


@dataclass(frozen=True)
class Sample:
    """Times of one thing done again and again, in seconds."""

    seconds: tuple[float, ...]

    @property
    def p50(self) -> float:
        """The median."""
        return statistics.median(self.seconds)

    @property
    def p99(self) -> float:
        """The value that 99 of 100 don't exceed."""
        return (
            sorted(self.seconds)[max(0, int(len(self.seconds) * 0.99) - 1)]
            if len(self.seconds) > 1
            else self.seconds[0]
        )


def repeat(act: Callable[[int], object], count: int) -> Sample:
    """Time `act(0)`, `act(1)`, ... one by one."""
    return Sample(tuple(_seconds(act, number) for number in range(count)))


def in_turns(acts: Sequence[Callable[[int], object]], count: int) -> list[Sample]:
    """Time acts as `repeat` does, each once before any is done again: what else the machine does meets all of them."""
    rounds = [[_seconds(act, number) for act in acts] for number in range(count)]
    return [Sample(seconds) for seconds in zip(*rounds, strict=True)]


def _seconds(act: Callable[[int], object], number: int) -> float:
    start = time.perf_counter()
    act(number)
    return time.perf_counter() - start


def processor_seconds(pid: int) -> float:
    """Return the time that a process and its children now alive have spent on a processor, to the nanosecond.

    By the scheduler's account of each thread: the better known one in `stat` counts in ticks of 10 ms, a hundred requests each.
    """
    total = 0
    for member in process_tree(pid):
        for account in Path(f"/proc/{member}/task").glob("*/schedstat"):
            try:
                total += int(account.read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                continue
    return total / 1e9


def process_tree(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(children.get(found[-1], []))
    return found


def resident_megabytes(pid: int) -> float:
    """Return the largest resident set among a process and its descendants, in MB."""
    pages = [int(Path(f"/proc/{member}/statm").read_text().split()[1]) for member in process_tree(pid)]
    return max(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Get:
    """One kept-alive connection that asks for one path again and again."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        host, _, path = url.removeprefix("http://").partition("/")
        self.connection = http.client.HTTPConnection(host, timeout=30)
        self.path, self.headers = "/" + path, headers or {}

    def __call__(self, _number: int = 0) -> bytes:
        self.connection.request("GET", self.path, headers=self.headers)
        response = self.connection.getresponse()
        body = response.read()
        if response.status not in (200, 206, 404):
            raise RuntimeError(f"{self.path} answered {response.status}: {body[:200]!r}")
        return body if response.status != 404 else b""


@dataclass(frozen=True)
class Asked:
    """What a server is asked for, how often in a round, and by whom it is answered."""

    pid: int
    urls: Sequence[str]
    requests: int = 50
    headers: dict[str, str] = field(default_factory=dict)


def side_by_side(servers: Mapping[str, Asked], rounds: int) -> dict[str, float]:
    """Return each server's processor seconds for one request: the median of rounds in which they take turns.

    In turns, because a machine that is busy with something else makes everything dearer for a while, and a ratio should not tell that.
    On one processor, because a server of two threads costs half as much again where the scheduler parts them, as it likes.
    """
    gets = {name: [Get(url, asked.headers) for url in asked.urls] for name, asked in servers.items()}
    spent: dict[str, list[float]] = {name: [] for name in servers}
    with on_one_processor([os.getpid(), *(asked.pid for asked in servers.values())]):
        for number in range(rounds + 1):
            for name, asked in servers.items():
                before = processor_seconds(asked.pid)
                for request in range(asked.requests):
                    gets[name][request % len(gets[name])]()
                # The first round only warms up: connections, caches, code.
                if number:
                    spent[name].append((processor_seconds(asked.pid) - before) / asked.requests)
    return {name: statistics.median(seconds) for name, seconds in spent.items()}


@contextmanager
def on_one_processor(pids: Iterable[int]) -> Iterator[None]:
    """Keep every thread of these processes and of their descendants on one processor while the block runs."""
    allowed = os.sched_getaffinity(0)
    members = {member for pid in pids for member in process_tree(pid)}
    _allow(members, {max(allowed)})
    try:
        yield
    finally:
        _allow(members, allowed)


def _allow(members: Iterable[int], processors: set[int]) -> None:
    for member in members:
        for thread in Path(f"/proc/{member}/task").glob("*"):
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), processors)


@dataclass
class Table:
    """Rows of a benchmark with their budgets. A row without a budget only informs."""

    title: str
    rows: list[tuple[str, str, str, str, bool]] = field(default_factory=list)

    def add(self, what: str, measured: str, peer: str = "", *, budget: str = "", within: bool = True) -> None:
        """Add a row; `within` says whether the budget is kept."""
        self.rows.append((what, measured, peer, budget, within))

    def ratio(self, what: str, own: float, peer: float, peer_name: str, limit: float, *, unit: str = "ms") -> None:
        """Add a row whose budget is a multiple of a peer measured in the same run."""
        scale = 1e6 if unit == "us" else 1e3
        ratio = own / peer if peer else float("inf")
        self.add(
            what,
            f"{own * scale:.2f} {unit}",
            f"{peer_name} {peer * scale:.2f} {unit}: {ratio:.2f}x",
            budget=f"<= {limit:g}x",
            within=ratio <= limit,
        )

    @property
    def missed(self) -> Sequence[str]:
        """What is over its budget."""
        return [what for what, _, _, _, within in self.rows if not within]

    def __str__(self) -> str:
        lines = [f"## {self.title}", "", "| what | measured | beside | budget | |", "|---|---|---|---|---|"]
        return "\n".join(
            [
                *lines,
                *(
                    f"| {w} | {m} | {p} | {b} | {'' if not b else 'ok' if ok else 'OVER'} |"
                    for w, m, p, b, ok in self.rows
                ),
            ]
        )
