"""The audit log: every attempt to run a skill, append-only and hash-chained, in one SQLite file. What is in a row: `audit_row`.

Several threads and processes (the host, `market run`) may write one file. A row is on the disk when `append` returns.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from market.errors import Unavailable
from market.run.audit_row import COLUMNS, FIRST_HASH, AuditEntry, AuditRow, hash_row, row_values
from market.run.audit_schema import open_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SELECTED = ", ".join(("seq", *COLUMNS, "previous_hash", "hash"))
_INSERT = f"INSERT INTO chat_tool_calls ({_SELECTED}) VALUES ({', '.join('?' * (len(COLUMNS) + 3))})"
INTERRUPTED = "the process that ran this call ended before the call did; a part of its work may be done"


@dataclass(frozen=True, slots=True)
class ChainReport:
    """Whether the chain holds. `broken_at` is the first row that doesn't fit, 0 if all do.

    Rows cut off at the end leave a chain that holds: compare `head` with one that was noted elsewhere.
    """

    rows: int
    head: str
    broken_at: int = 0
    why: str = ""


class AuditLog:
    """An open audit log. Safe to use from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._run = secrets.token_hex(8)
        with self._failures("opened"):
            self._connection = open_database(path)
        self._settle_interrupted()

    def begin(self, row: AuditRow) -> int:
        """Note durably that a call is about to run, and return the ticket to hand to `append` when it has ended.

        If this raises, the call must not run: a disk that can't take the note won't take the row either.
        """
        note = json.dumps(asdict(row))
        with self._writing() as connection:
            cursor = connection.execute(
                "INSERT INTO begun_calls (pid, run, row_json) VALUES (?, ?, ?)", (os.getpid(), self._run, note)
            )
            return int(cursor.lastrowid or 0)

    def append(self, row: AuditRow, ticket: int | None = None) -> AuditEntry:
        """Add a row durably. A ticket of `begin` is settled in the same transaction."""
        with self._writing() as connection:
            if ticket is not None:
                connection.execute("DELETE FROM begun_calls WHERE ticket = ?", (ticket,))
            return _insert(connection, row)

    def rows(
        self, tool_name: str = "", *, outcome: str = "", limit: int = 100, before: int = 0
    ) -> tuple[AuditEntry, ...]:
        """Return the newest rows first. An empty filter takes all; `before` is the `seq` to continue from."""
        query = (
            f"SELECT {_SELECTED} FROM chat_tool_calls WHERE (?1 = '' OR tool_name = ?1) AND (?2 = '' OR outcome = ?2)"
            " AND (?3 = 0 OR seq < ?3) ORDER BY seq DESC LIMIT ?4"
        )
        with self._failures("read"), self._lock:
            found = self._connection.execute(query, (tool_name, outcome, before, limit)).fetchall()
        return tuple(_entry(values) for values in found)

    def check_chain(self) -> ChainReport:
        """Recompute every hash from the first row on."""
        count, head = 0, FIRST_HASH
        with self._failures("read"), self._lock:
            for values in self._connection.execute(f"SELECT {_SELECTED} FROM chat_tool_calls ORDER BY seq"):
                entry = _entry(values)
                if why := _find_break(entry, count + 1, head):
                    return ChainReport(count, head, entry.seq, why)
                count, head = entry.seq, entry.hash
        return ChainReport(count, head)

    def close(self) -> None:
        """Close the file; the log can't be used afterwards."""
        with self._lock:
            self._connection.close()

    def _settle_interrupted(self) -> None:
        """Turn what dead processes have left begun into rows that say so."""
        with self._writing() as connection:
            for ticket, pid, run, note in connection.execute(
                "SELECT ticket, pid, run, row_json FROM begun_calls"
            ).fetchall():
                if run != self._run and (pid == os.getpid() or not _is_alive(pid)):
                    row = replace(AuditRow(**json.loads(note)), outcome="failed", error=INTERRUPTED)
                    connection.execute("DELETE FROM begun_calls WHERE ticket = ?", (ticket,))
                    _insert(connection, row)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._failures("written"), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _failures(self, act: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(
                f"the audit log {self._path} can't be {act}",
                why=str(error),
                hint="check the disk's free space and the file's owner; no skill that changes things runs without it",
            ) from error


def _insert(connection: sqlite3.Connection, row: AuditRow) -> AuditEntry:
    last = connection.execute("SELECT seq, hash FROM chat_tool_calls ORDER BY seq DESC LIMIT 1").fetchone()
    seq, previous = (last[0] + 1, last[1]) if last else (1, FIRST_HASH)
    entry = AuditEntry(seq, row, previous, hash_row(seq, row, previous))
    connection.execute(_INSERT, (seq, *row_values(row), previous, entry.hash))
    return entry


def _entry(values: tuple[object, ...]) -> AuditEntry:
    seq, *row, previous, own = values
    return AuditEntry(int(str(seq)), AuditRow(*row), str(previous), str(own))  # type: ignore[arg-type]


def _find_break(entry: AuditEntry, expected_seq: int, expected_previous: str) -> str:
    if entry.seq != expected_seq:
        return f"row {expected_seq} is missing"
    if entry.previous_hash != expected_previous:
        return "it doesn't continue the row before it"
    if entry.hash != hash_row(entry.seq, entry.row, entry.previous_hash):
        return "its content was changed"
    return ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
