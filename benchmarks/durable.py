"""What the disk alone takes for one small upload, measured in turns with the uploads: a busy disk is dear for both."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchmarks.measure import Table, in_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILE_BYTES = 4096
# The budget of a publish: this, or on a slower disk what three syncs take and this much more.
PUBLISH_SECONDS = 0.015
WORK_SECONDS = 0.005


def publish_row(
    table: Table, what: str, folder: Path, publish: Callable[[int], object], count: int, *, has_budget: bool = True
) -> None:
    """Time `publish(0)`, `publish(1)`, ... with the disk's own work in between, and add the row."""
    with disk_work(folder) as keep:
        own, floor = in_turns((publish, keep), count)
    limit = max(PUBLISH_SECONDS, floor.p50 + WORK_SECONDS)
    table.add(
        what,
        f"p50 {own.p50 * 1e3:.2f} ms, p99 {own.p99 * 1e3:.2f} ms",
        f"the disk for a file and a row: three syncs, p50 {floor.p50 * 1e3:.2f} ms, p99 {floor.p99 * 1e3:.2f} ms",
        budget=f"p50 <= {limit * 1e3:.1f} ms" if has_budget else "",
        within=own.p50 <= limit or not has_budget,
    )


@contextmanager
def disk_work(folder: Path) -> Iterator[Callable[[int], None]]:
    """Yield what does the least that a publish must: a new file under its name for good, and a row in a database for good.

    The same kind of work, because syncing one file over and over takes a tenth of it: no name changes, no journal is written.
    """
    folder.mkdir()
    connection = sqlite3.connect(folder / "rows.db", isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE kept (number, body)"):
        connection.execute(statement)

    def keep(number: int) -> None:
        _keep_file(folder, f"kept-{number}")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO kept VALUES (?, ?)", (number, b"x" * FILE_BYTES))
        connection.execute("COMMIT")

    try:
        yield keep
    finally:
        connection.close()


def _keep_file(folder: Path, name: str) -> None:
    path = folder / f"{name}.part"
    with path.open("xb") as stream:
        stream.write(b"x" * FILE_BYTES)
        stream.flush()
        os.fsync(stream.fileno())
    path.replace(folder / name)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
