"""The tables of the audit log's SQLite file, and how it is opened: write-ahead log, full durability, readable by its owner only."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from market.errors import Conflict
from market.run.audit_row import COLUMNS
from market.run.limits import AUDIT_BUSY_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA_VERSION = 1

_TYPES = {"duration_ms": "REAL", "caller_user_id": "INTEGER"}
_COLUMNS = ", ".join(f"{name} {_TYPES.get(name, 'TEXT')} NOT NULL" for name in COLUMNS)
_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"
_STATEMENTS = (
    f"CREATE TABLE chat_tool_calls (seq INTEGER PRIMARY KEY, {_COLUMNS}, previous_hash TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE INDEX calls_by_tool ON chat_tool_calls (tool_name, seq)",
    f"CREATE TRIGGER calls_keep BEFORE UPDATE ON chat_tool_calls {_REFUSE}",
    f"CREATE TRIGGER calls_stay BEFORE DELETE ON chat_tool_calls {_REFUSE}",
    # Calls that have begun and not ended: what is left here by a process that is gone was interrupted.
    "CREATE TABLE begun_calls (ticket INTEGER PRIMARY KEY, pid INTEGER NOT NULL, run TEXT NOT NULL, row_json TEXT NOT NULL)",
)


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the file. Raises sqlite3.Error, OSError, or Conflict for a file of a newer Market."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=AUDIT_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        _create(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > SCHEMA_VERSION:
        raise Conflict(
            f"the audit log {path} was written by a newer Market", hint="upgrade this one, or name another file"
        )
    if found == 0:
        for statement in _STATEMENTS:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
