"""Skills of the registry as the JSON of the host's API. Pure; which skills a caller asked for is `skills_api`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from market.client.wire import dump_problem
from market.model import OutcomeKind, SkillClass, State

if TYPE_CHECKING:
    from market.model import Outcome
    from market.registry.live import LiveSkill
    from market.registry.unit import Dropped

EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def dump_skill(live: LiveSkill) -> dict[str, Any]:
    """Return one skill as JSON values. `source` says where it came from (mission E4)."""
    skill, command = live.skill, live.skill.command
    values: dict[str, Any] = {
        "key": live.key,
        "name": skill.name,
        "description": skill.description,
        "class": skill.skill_class,
        "scope": skill.scope,
        "category": skill.category,
        "kind": skill.kind,
        "pack": live.pack,
        "version": live.version,
        "state": live.state,
        "schema": command.schema if command else EMPTY_SCHEMA,
        "root": live.root,
        "folder": skill.folder,
        "directory": skill_directory(live),
        "source": live.source,
        "tree_digest": live.tree_digest,
        "shadowed_by": live.shadowed_by,
        "problems": [dump_problem(problem) for problem in live.problems],
    }
    if command:
        values |= {"entry": command.entry, "env_allow": command.env_allow, "timeout_seconds": command.timeout_seconds}
    return values | {"guide": _dump_guide(live)}


def dump_dropped(row: Dropped) -> dict[str, Any]:
    """Return a manifest that didn't load as a row of the same shape, in the state `invalid` with its reason."""
    return {
        "key": row.name or row.path,
        "name": row.name,
        "description": "",
        "class": SkillClass.SAFE,
        "scope": "manager",
        "category": "",
        "kind": "",
        "pack": row.pack,
        "version": row.version,
        "state": State.INVALID,
        "schema": EMPTY_SCHEMA,
        "root": row.root,
        "folder": "",
        "source": row.source,
        "shadowed_by": "",
        "manifest": row.path,
        "reason": row.cause,
        "problems": [dump_problem(problem) for problem in row.problems],
    }


def dump_outcome(outcome: Outcome) -> dict[str, Any]:
    """Return what came of a call. The result stays the skill's own text (mission A12) where the encoder can take it."""
    return {
        "kind": outcome.kind,
        "result": outcome.result,
        "error": outcome.error,
        "duration_ms": outcome.duration_ms,
        "stderr": outcome.stderr,
        "truncated": outcome.truncated,
        "exit_code": outcome.exit_code,
    }


def is_refused(outcome: Outcome) -> bool:
    """Whether the call didn't run at all."""
    return outcome.kind in (OutcomeKind.DENIED, OutcomeKind.UNKNOWN, OutcomeKind.INVALID)


def skill_directory(live: LiveSkill) -> str:
    """Return the absolute directory of a skill: what its relative paths are resolved against."""
    return f"{live.unit}/{live.skill.folder}" if live.skill.folder else live.unit


def guide_path(live: LiveSkill) -> str:
    """Return the absolute path of a skill's SKILL.md."""
    return f"{live.unit}/{live.skill.guide.manifest}" if live.skill.guide else ""


def files_url(base_url: str, live: LiveSkill, path: str) -> str:
    """Return the URL at which the host serves a file of a skill's directory."""
    return f"{base_url.rstrip('/')}/v1/skills/{quote(live.key, safe=':')}/files/{quote(path)}"


def _dump_guide(live: LiveSkill) -> dict[str, Any] | None:
    guide = live.skill.guide
    if guide is None:
        return None
    return {
        "path": guide_path(live),
        "base_directory": skill_directory(live),
        "prompt_version": guide.marker,
        "disable_model_invocation": guide.disable_model_invocation,
    }
