"""One row of the audit log, its bounds and its place in the hash chain. Pure; storing rows is `market.run.audit`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass, fields

from market.run.limits import MAX_AUDIT_TEXT_BYTES, PREVIEW_CHARACTERS

FIRST_HASH = "0" * 64


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One attempt to run a skill (mission D1). Times are UTC in ISO 8601; user 0 with role `system` is a model.

    `outcome` is an OutcomeKind; `args_json` are the filled arguments where they were valid, else what was given. `stderr`
    are the skill's log lines (mission A11).
    """

    session_id: str
    tool_name: str
    args_json: str
    result_json: str
    error: str
    device_id: str
    started_at: str
    finished_at: str
    duration_ms: float
    caller_user_id: int
    caller_role: str
    caller_name: str
    skill_class: str
    road: str
    outcome: str
    pack: str = ""
    version: str = ""
    tree_digest: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A row as it stands in the log. `hash` covers the row, its number and the hash before it."""

    seq: int
    row: AuditRow
    previous_hash: str
    hash: str


# The one column that isn't called as its field: `class` is a word of Python's.
_COLUMN_NAMES = {"skill_class": "class"}
COLUMNS = tuple(_COLUMN_NAMES.get(field.name, field.name) for field in fields(AuditRow))


def row_values(row: AuditRow) -> tuple[object, ...]:
    """Return the row's values in the order of `COLUMNS`."""
    return tuple(astuple(row))


def hash_row(seq: int, row: AuditRow, previous_hash: str) -> str:
    """Return the link of the chain: SHA-256 over the number, the values and the previous hash."""
    body = json.dumps([previous_hash, seq, *row_values(row)], separators=(",", ":"))
    return hashlib.sha256(body.encode()).hexdigest()


def bound_text(text: str) -> str:
    """Return the text if it is small enough, else a JSON object with its size, digest and beginning."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= MAX_AUDIT_TEXT_BYTES:
        return data.decode()
    shown = text[:PREVIEW_CHARACTERS].encode("utf-8", "backslashreplace").decode()
    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
    return json.dumps({"truncated": True, "bytes": len(data), "digest": digest, "start": shown})
