"""The documents of a host's API, `/v1`, as values: written by the host, read by the client. Same rules as `market.client.wire`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class SkillView:
    """One skill in the host's registry. `skill_class` is written as `class` in JSON; see `skill_from_json`.

    `manifest` and `reason` are given where it is a manifest that didn't load.
    """

    key: str
    name: str
    description: str
    skill_class: str
    kind: str
    pack: str
    version: str
    state: str
    scope: str = "manager"
    category: str = ""
    schema: dict[str, Any] = field(default_factory=dict)
    root: str = ""
    folder: str = ""
    source: str = ""
    shadowed_by: str = ""
    manifest: str = ""
    reason: str = ""
    problems: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SkillList:
    """`/v1/skills`: one page of skills in key order. `next` is the URL of the next page, or empty."""

    items: tuple[SkillView, ...]
    total: int
    next: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """`POST /v1/skills/KEY/execute`: what came of a call. A failing skill is 200 too; `kind` says how it ended."""

    kind: str
    result: Any = None
    error: str = ""
    duration_ms: float = 0.0
    stderr: str = ""
    truncated: bool = False
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Arrived:
    """The answer to an upload or install through the host: what changed, and what was changed in an archive to make a pack of it.

    `also` has a row with name, version and action for each pack that came along because it is required, `findings` what the scans of
    plugins saw in each `pack` and stopped nothing.
    """

    name: str
    version: str
    action: str
    root: str = ""
    tree_digest: str = ""
    live_ms: float = 0.0
    problems: tuple[dict[str, Any], ...] = ()
    also: tuple[dict[str, Any], ...] = ()
    findings: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Rescanned:
    """The answer to a rescan: how many skills are registered now, and how long it took."""

    skills: int
    duration_ms: float


def rescan_path() -> str:
    """The path to which a POST makes the host look again."""
    return "/v1/rescan"


def skills_path() -> str:
    """The path of the list of skills; the query `pack` narrows it."""
    return "/v1/skills"


def skill_path(key: str) -> str:
    """The path of one skill."""
    return f"/v1/skills/{quote(key, safe=':')}"


def execute_path(key: str) -> str:
    """The path to which a call is posted: `{"params": {...}}`."""
    return f"{skill_path(key)}/execute"


def upload_path() -> str:
    """The path to which an archive or wheel is PUT; the queries `name`, `version`, `filename` and `root` are optional."""
    return "/v1/marketplace/upload"


def health_path() -> str:
    """The path that says that the host lives: `{"status": "ok", "pid": n}`."""
    return "/healthz"


def skill_to_json(view: dict[str, Any]) -> dict[str, Any]:
    """Return a dumped `SkillView` with `class` in place of `skill_class`, as the mission's API writes it."""
    return {("class" if name == "skill_class" else name): value for name, value in view.items()}


def skill_from_json(row: object) -> object:
    """Return a skill's JSON with the field `class` renamed, ready for `parse_document(SkillView, ...)`."""
    return (
        {("skill_class" if name == "class" else name): value for name, value in row.items()}
        if isinstance(row, dict)
        else row
    )
