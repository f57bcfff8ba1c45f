from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import insert, select

from index.parts import prepare_data
from index.store.blobs import FolderBlobs
from index.store.database import DATABASE_NAME, Database, migrate, open_database, sql_failures
from index.store.inline import InlineReader
from index.store.lanes import Lanes
from index.store.schema import metadata, publishers
from market.errors import NotFound, Unavailable
from market.names import Digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DIGEST = Digest("sha256:" + "ab" * 32)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = prepare_data(tmp_path)
    yield made
    made.close()


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return [str(name) for name in connection.execute(select(publishers.c.name)).scalars()]


def test_migrations_and_tables_agree(database: Database) -> None:
    with database.read() as connection:
        options = {"include_name": lambda name, kind, _: kind != "table" or not name.startswith("search")}
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
    assert differences == []


def test_preparing_again_changes_nothing_and_keeps_everything(database: Database, tmp_path: Path) -> None:
    with database.write() as connection:
        connection.execute(insert(publishers).values(name="acme", created_at=""))
    prepare_data(tmp_path).close()
    assert names(database) == ["acme"]


def test_several_processes_may_prepare_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        databases = list(pool.map(lambda _: open_database(tmp_path), range(4)))
        # Alembic keeps global state within a process, so only the statements meet here, not its machinery.
        lock = threading.Lock()
        list(pool.map(lambda database: _migrate_alone(database, lock), databases))
    assert names(databases[0]) == []


def _migrate_alone(database: Database, lock: threading.Lock) -> None:
    with lock:
        migrate(database, lambda _: None)


def test_data_folder_is_private(database: Database, tmp_path: Path) -> None:
    assert tmp_path.stat().st_mode & 0o777 == 0o700


def test_database_survives_a_power_cut(database: Database) -> None:
    with database.read() as connection:
        values = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous", "foreign_keys")]
    assert values == ["wal", 2, 1]


def test_write_transaction_is_taken_whole_or_not(database: Database) -> None:
    with pytest.raises(RuntimeError), database.write() as connection:
        connection.execute(insert(publishers).values(name="acme", created_at=""))
        raise RuntimeError
    assert names(database) == []


def test_two_writers_cannot_both_look_and_then_insert(database: Database) -> None:
    """With a plain BEGIN both would see no row, and one would fail or overwrite: here the second waits, and sees the first's."""
    seen: list[int] = []
    inside, go_on = threading.Event(), threading.Event()

    def first() -> None:
        with database.write() as connection:
            seen.append(len(connection.execute(select(publishers)).all()))
            inside.set()
            go_on.wait(5)
            connection.execute(insert(publishers).values(name="acme", created_at=""))

    def second() -> None:
        inside.wait(5)
        threading.Timer(0.1, go_on.set).start()
        with database.write() as connection:
            seen.append(len(connection.execute(select(publishers)).all()))

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert seen == [0, 1]


def test_reader_sees_one_state_and_does_not_wait_for_a_writer(database: Database) -> None:
    with database.write() as connection:
        connection.execute(insert(publishers).values(name="acme", created_at=""))
        assert names(database) == []
    assert names(database) == ["acme"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("database is locked", Unavailable), ("database or disk is full", Unavailable), ("attempt to write a readonly database", Unavailable),
     ("unable to open database file", Unavailable), ("file is not a database", Unavailable), ("database disk image is malformed", Unavailable)],
)  # fmt: skip
def test_failures_of_the_driver_become_ours(database: Database, text: str, kind: type[Exception]) -> None:
    with pytest.raises(kind), database.read():
        raise sqlite3.OperationalError(text)


def test_damaged_database_is_said(tmp_path: Path) -> None:
    (tmp_path / DATABASE_NAME).write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(Unavailable, match="damaged"):
        prepare_data(tmp_path)


def test_inline_reader_sees_each_commit_and_cannot_write(database: Database, tmp_path: Path) -> None:
    reader = InlineReader(tmp_path)
    assert reader.document("/x") is None
    with database.write() as connection:
        connection.exec_driver_sql("INSERT INTO documents VALUES ('/x', '\"e\"', x'00ff')")
    document = reader.document("/x")
    assert document is not None
    assert (document.body, document.etag) == (b"\x00\xff", b'"e"')
    with pytest.raises(Unavailable):
        _execute(reader, "DELETE FROM documents")
    reader.close()


def test_inline_reader_creates_no_database(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        InlineReader(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    made = FolderBlobs(tmp_path / "blobs")
    made.create()
    return made


def arrive(blobs: FolderBlobs, content: bytes = b"content") -> Path:
    path = blobs.incoming / "upload"
    path.write_bytes(content)
    return path


def test_kept_blob_is_there_and_the_arrived_file_gone(blobs: FolderBlobs) -> None:
    arrived = arrive(blobs)
    blobs.keep(arrived, DIGEST)
    with blobs.open(DIGEST) as stream:
        assert stream.read() == b"content"
    assert blobs.size_of(DIGEST) == 7
    assert not arrived.exists()
    assert blobs.path_of(DIGEST).parent.name == "ab"
    assert blobs.path_of(DIGEST).stat().st_mode & 0o777 == 0o444


def test_same_blob_again_is_fine(blobs: FolderBlobs) -> None:
    blobs.keep(arrive(blobs), DIGEST)
    blobs.keep(arrive(blobs), DIGEST)
    assert blobs.size_of(DIGEST) == 7


def test_missing_blob(blobs: FolderBlobs) -> None:
    assert blobs.size_of(DIGEST) is None
    with pytest.raises(NotFound):
        blobs.open(DIGEST)


def test_only_old_leftovers_are_swept(blobs: FolderBlobs) -> None:
    arrived = arrive(blobs)
    blobs.sweep(datetime.now(UTC))
    assert arrived.exists()
    blobs.sweep(datetime.now(UTC) + timedelta(days=2))
    assert not arrived.exists()


def test_blob_that_cannot_be_stored_is_said(blobs: FolderBlobs) -> None:
    arrived = arrive(blobs)
    blobs.path_of(DIGEST).mkdir()
    with pytest.raises(Unavailable, match="can't store"):
        blobs.keep(arrived, DIGEST)


def test_a_lane_is_one_thread_at_a_time() -> None:
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        running.append(1)
        most.append(len(running))
        threading.Event().wait(0.01)
        running.pop()

    async def all_at_once() -> None:
        lanes = Lanes()
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(lanes.write, work)

    anyio.run(all_at_once)
    assert max(most) == 1


def _execute(reader: Any, statement: str) -> None:
    with sql_failures():
        reader._connection.execute(statement)
