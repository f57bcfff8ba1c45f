"""`market audit`: the calls made on this machine, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.command import command
from market.cli.text import shorten, table_lines
from market.errors import Untrusted
from market.run.audit import AuditLog
from market.run.audit_row import COLUMNS, row_values

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.run.audit_row import AuditEntry


@command("audit")
@click.option("--skill", default="", metavar="KEY", help="Only calls of this skill.")
@click.option(
    "--outcome",
    default="",
    metavar="WORD",
    help="Only calls that ended so: ok, failed, timeout, invalid, denied, unknown.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many to show.")
@click.option("--before", type=click.IntRange(0), default=0, metavar="SEQ", help="Continue below this number.")
@click.option(
    "--verify", is_flag=True, help="Recompute the chain of hashes, and fail where a row was changed or taken out."
)
def audit(market: Market, output: Output, skill: str, outcome: str, limit: int, before: int, verify: bool) -> None:
    r"""Show every attempt to run a skill: who, what, with which arguments, and what came of it.

    \b
    Examples:
      market audit --skill disk_cleaner
      market audit --outcome denied --json
    """
    path = market.home.audit
    if not path.exists():
        output.answer({"items": [], "total": 0, "path": str(path)}, [f"no calls yet ({path})"])
        return
    log = AuditLog(path)
    try:
        if verify:
            _verify(log, str(path), output)
        entries = log.rows(skill, outcome=outcome, limit=limit, before=before)
    finally:
        log.close()
    output.answer(
        {"items": [_document(entry) for entry in entries], "total": len(entries), "path": str(path)}, _lines(entries)
    )


def _verify(log: AuditLog, path: str, output: Output) -> None:
    report = log.check_chain()
    if report.broken_at:
        raise Untrusted(
            f"the audit log {path} was changed at row {report.broken_at}",
            why=report.why,
            hint="compare it with a backup",
        )
    output.remark(f"the chain of {report.rows} rows holds; its head is {report.head}")


def _document(entry: AuditEntry) -> dict[str, Any]:
    values = dict(zip(COLUMNS, row_values(entry.row), strict=True))
    return {"seq": entry.seq, **values, "previous_hash": entry.previous_hash, "hash": entry.hash}


def _lines(entries: tuple[AuditEntry, ...]) -> list[str]:
    if not entries:
        return ["no calls match"]
    head = ("SEQ", "STARTED", "SKILL", "CALLER", "ROAD", "OUTCOME", "MS", "ARGUMENTS", "ERROR")
    return table_lines(head, [_cells(entry) for entry in entries])


def _cells(entry: AuditEntry) -> tuple[str, ...]:
    row = entry.row
    caller = f"{row.caller_name or row.caller_user_id} ({row.caller_role})"
    shown = (row.started_at[:19], row.tool_name, caller, row.road, row.outcome, f"{row.duration_ms:.1f}")
    return (str(entry.seq), *shown, shorten(row.args_json, 40), shorten(row.error, 60))
