"""The audit log: durable, append-only, chained, shared by threads and processes, honest about interruptions."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from market.errors import Conflict, Unavailable
from market.run.audit import INTERRUPTED, AuditLog
from market.run.audit_row import FIRST_HASH, AuditRow, bound_text, hash_row
from market.run.limits import MAX_AUDIT_TEXT_BYTES


def a_row(**changes: Any) -> AuditRow:
    """A row of a call that went well."""
    fields: dict[str, Any] = {
        "session_id": "s",
        "tool_name": "disk_cleaner",
        "args_json": "{}",
        "result_json": "{}",
        "error": "",
        "device_id": "",
        "started_at": "2026-01-01T00:00:00+00:00",
        "finished_at": "2026-01-01T00:00:01+00:00",
        "duration_ms": 1000.125,
        "caller_user_id": 7,
        "caller_role": "user",
        "caller_name": "ada",
        "skill_class": "safe",
        "road": "http",
        "outcome": "ok",
        **changes,
    }
    return AuditRow(**fields)


def test_rows_come_back_newest_first_and_filtered(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "home/audit.db")
    for number in range(5):
        log.append(a_row(tool_name="a" if number % 2 else "b", outcome="failed" if number == 3 else "ok", error=str(number)))
    assert [entry.row.error for entry in log.rows()] == ["4", "3", "2", "1", "0"]
    assert [entry.row.error for entry in log.rows("a")] == ["3", "1"]
    assert [entry.row.error for entry in log.rows(outcome="failed")] == ["3"]
    assert [entry.seq for entry in log.rows(limit=2, before=4)] == [3, 2]
    assert log.rows()[0].row == a_row(tool_name="b", error="4")


def test_the_file_belongs_to_its_owner_only(tmp_path: Path) -> None:
    AuditLog(tmp_path / "home/audit.db").append(a_row())
    assert [path.stat().st_mode & 0o077 for path in sorted((tmp_path / "home").iterdir())] == [0, 0, 0]


def test_reopening_continues_the_chain(tmp_path: Path) -> None:
    first = AuditLog(tmp_path / "audit.db")
    entry = first.append(a_row())
    first.close()
    second = AuditLog(tmp_path / "audit.db")
    assert second.append(a_row()).previous_hash == entry.hash
    assert (second.check_chain().rows, second.check_chain().broken_at) == (2, 0)
    assert entry.previous_hash == FIRST_HASH


@pytest.mark.parametrize("statement", ["UPDATE chat_tool_calls SET error = 'x'", "DELETE FROM chat_tool_calls"])
def test_rows_cannot_be_changed_or_deleted(tmp_path: Path, statement: str) -> None:
    log = AuditLog(tmp_path / "audit.db")
    log.append(a_row())
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), sqlite3.connect(tmp_path / "audit.db") as connection:
        connection.execute(statement)
    assert len(log.rows()) == 1


@pytest.mark.parametrize(
    ("statement", "broken_at", "why"),
    [
        ("UPDATE chat_tool_calls SET caller_name = 'eve' WHERE seq = 2", 2, "its content was changed"),
        ("DELETE FROM chat_tool_calls WHERE seq = 2", 3, "row 2 is missing"),
        ("UPDATE chat_tool_calls SET previous_hash = hash WHERE seq = 3", 3, "it doesn't continue the row before it"),
    ],
)
def test_tampering_behind_the_triggers_breaks_the_chain(tmp_path: Path, statement: str, broken_at: int, why: str) -> None:
    log = AuditLog(tmp_path / "audit.db")
    for _ in range(4):
        log.append(a_row())
    with sqlite3.connect(tmp_path / "audit.db") as connection:
        connection.executescript(f"DROP TRIGGER calls_keep; DROP TRIGGER calls_stay; {statement}")
    report = log.check_chain()
    assert (report.broken_at, report.why) == (broken_at, why)


def test_a_rewritten_row_with_a_new_hash_breaks_at_its_follower(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.db")
    first, _ = log.append(a_row()), log.append(a_row())
    forged = hash_row(1, replace(first.row, caller_name="eve"), FIRST_HASH)
    with sqlite3.connect(tmp_path / "audit.db") as connection:
        connection.executescript(f"DROP TRIGGER calls_keep; UPDATE chat_tool_calls SET caller_name='eve', hash='{forged}' WHERE seq=1")
    assert log.check_chain().broken_at == 2


def test_threads_and_a_second_log_write_one_chain(tmp_path: Path) -> None:
    logs = (AuditLog(tmp_path / "audit.db"), AuditLog(tmp_path / "audit.db"))
    threads = [threading.Thread(target=lambda log=log: [log.append(a_row()) for _ in range(20)]) for log in logs * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (logs[0].check_chain().rows, logs[0].check_chain().broken_at) == (120, 0)


def test_a_settled_ticket_leaves_one_row(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.db")
    ticket = log.begin(a_row(outcome="failed"))
    log.append(a_row(), ticket)
    assert [entry.row.outcome for entry in AuditLog(tmp_path / "audit.db").rows()] == ["ok"]


def test_a_call_that_still_runs_is_not_called_interrupted(tmp_path: Path) -> None:
    script = "import sys; from market.run.audit import AuditLog; from tests.run.test_audit import a_row; from pathlib import Path\n"
    script += "AuditLog(Path(sys.argv[1])).begin(a_row(outcome='failed')); print(flush=True); sys.stdin.read()"
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "audit.db")],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with other:
        assert other.stdout is not None
        other.stdout.readline()
        assert AuditLog(tmp_path / "audit.db").rows() == ()
        other.kill()
    (entry,) = AuditLog(tmp_path / "audit.db").rows()
    assert (entry.row.outcome, entry.row.error, entry.row.tool_name) == ("failed", INTERRUPTED, "disk_cleaner")
    assert len(AuditLog(tmp_path / "audit.db").rows()) == 1


def test_a_file_of_a_newer_market_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "audit.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(Conflict, match="newer Market"):
        AuditLog(tmp_path / "audit.db")


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "audit.db").write_bytes(b"this is not a database, whatever its name says" * 40)
    with pytest.raises(Unavailable, match="can't be opened"):
        AuditLog(tmp_path / "audit.db")


def test_a_log_that_cannot_be_written_raises(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.db")
    log.close()
    with pytest.raises(Unavailable, match="can't be written"):
        log.append(a_row())


def test_large_texts_are_kept_as_their_digest_and_beginning() -> None:
    assert bound_text("x" * MAX_AUDIT_TEXT_BYTES) == "x" * MAX_AUDIT_TEXT_BYTES
    shortened = json.loads(bound_text("x" * (MAX_AUDIT_TEXT_BYTES + 1)))
    assert (shortened["truncated"], shortened["bytes"], len(shortened["start"])) == (True, MAX_AUDIT_TEXT_BYTES + 1, 200)
    assert bound_text("a\ud800") == "a\\ud800"
