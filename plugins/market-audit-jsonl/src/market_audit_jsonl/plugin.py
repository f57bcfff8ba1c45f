"""The hooks: every run, install, removal, release and yank becomes one line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market_audit_jsonl.lines import append_line, bound_text, lines_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from market.hookspecs import Target
    from market.model import Call, Caller, Outcome, Pack


@hookimpl
def skill_ran(target: Target | None, call: Call, arguments_text: str, outcome: Outcome, at: datetime) -> None:
    """Write a run, also one that was denied, unknown, invalid or timed out."""
    values = {
        "key": call.key,
        "class": str(target.skill.skill_class) if target else "",
        "pack": target.pack if target else "",
        "version": target.version if target else "",
        "publisher": target.publisher if target else "",
        "tree_digest": target.tree_digest if target else "",
        "arguments": bound_text(arguments_text),
        "outcome": str(outcome.kind),
        "error": bound_text(outcome.error),
        "exit_code": outcome.exit_code,
        "duration_ms": outcome.duration_ms,
        "road": call.road,
        "session_id": call.session_id,
    }
    _write("run", at, {**values, **_who(call.caller)})


@hookimpl
def pack_installed(
    pack: Pack, publisher: str, origin: str, root: str, action: str, old_version: str, caller: Caller, at: datetime
) -> None:
    """Write an install."""
    values = {"pack": pack.name, "version": str(pack.version), "old_version": old_version, "action": action}
    _write("install", at, {**values, "publisher": publisher, "origin": origin, "root": root, **_who(caller)})


@hookimpl
def pack_removed(name: str, version: str, root: str, caller: Caller, at: datetime) -> None:
    """Write a removal."""
    _write("remove", at, {"pack": name, "version": version, "root": root, **_who(caller)})


@hookimpl
def release_published(pack: Pack, publisher: str, filename: str, tree_digest: str, at: datetime) -> None:
    """Write a release."""
    values = {"pack": pack.name, "version": str(pack.version), "publisher": publisher}
    _write("publish", at, {**values, "file": filename, "tree_digest": tree_digest})


@hookimpl
def release_yanked(name: str, version: str, publisher: str, reason: str, undone: bool, at: datetime) -> None:
    """Write a yank, or that it was taken back."""
    values = {"pack": name, "version": version, "publisher": publisher, "reason": reason}
    _write("unyank" if undone else "yank", at, values)


def _who(caller: Caller) -> dict[str, object]:
    return {"caller": caller.name, "caller_id": caller.user_id, "role": str(caller.role)}


def _write(event: str, at: datetime, values: Mapping[str, object]) -> None:
    append_line(lines_path(os.environ), {"event": event, "at": at.isoformat(), **values})
