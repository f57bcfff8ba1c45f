"""Which manifests of a unit didn't load, and the cause that the log line and the API give (mission A14 to A16, A18)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from market.errors import Severity
from market.registry.findings import escaped as escaped_problem
from market.registry.log_lines import escape_cause
from market.registry.rooted import COMMAND_FILE, load_fields
from market.registry.unit import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.errors import Problem
    from market.model import Skill
    from market.pack.source import Source
    from market.registry.live import LiveSkill
    from market.registry.unit import UnitId

DUPLICATE_RULE = "skill-duplicate"
READING_RULES = frozenset(
    {"text-encoding", "file-too-large", "json-syntax", "json-duplicate-key", "json-constant", "json-deep"}
)
READING_RULES |= {"json-surrogate", "json-not-object"}
"""Problems of a skill.json that no field can be read from: the log says `parse PATH`; of others it says `build "NAME"`."""
PACK_MANIFESTS = frozenset({"pack.yaml", "plugin.json", "openclaw.plugin.json"})


def find_dropped(
    unit: UnitId, source: Source, problems: Iterable[Problem], skills: Iterable[Skill], escaped: Mapping[str, str]
) -> tuple[Dropped, ...]:
    """Return a row for each manifest that didn't become a skill. `escaped` gives the cause for entries that leave the root."""
    loaded = {side.manifest for skill in skills for side in (skill.command, skill.guide) if side}
    by_file: dict[str, list[Problem]] = {}
    for problem in problems:
        if problem.file not in loaded and _is_manifest(problem.file) and _drops(problem):
            by_file.setdefault(problem.file, []).append(problem)
    return tuple(_dropped(unit, source, file, found, escaped.get(file, "")) for file, found in sorted(by_file.items()))


def refuse_entry(unit: UnitId, live: LiveSkill, manifest: str, real: str) -> Dropped:
    """Return the row of a skill whose entry, which really is `real`, doesn't lie under the root."""
    cause = escape_cause(real, os.path.realpath(unit.root))
    return Dropped(f"{unit.path}/{manifest}", live.skill.name, cause, (escaped_problem(cause, manifest),))


def _dropped(unit: UnitId, source: Source, file: str, problems: list[Problem], escape: str) -> Dropped:
    path = f"{unit.path}/{file}"
    if any(problem.rule == DUPLICATE_RULE for problem in problems):
        return Dropped(
            path, _name(source, file), "its pack has another skill of this name", tuple(problems), is_duplicate=True
        )
    cause = escape or "; ".join(f"{_place(problem)}{problem.text}" for problem in problems)
    found = (escaped_problem(escape, file),) if escape else tuple(problems)
    is_read = file.rpartition("/")[2] == COMMAND_FILE and not any(problem.rule in READING_RULES for problem in problems)
    return Dropped(path, _name(source, file) if is_read else "", cause, found)


def _drops(problem: Problem) -> bool:
    return problem.severity is Severity.ERROR or problem.rule == DUPLICATE_RULE


def _is_manifest(file: str) -> bool:
    name = file.rpartition("/")[2]
    return name.lower() in ("skill.md", "skill.json") or name in PACK_MANIFESTS


def _place(problem: Problem) -> str:
    return f"line {problem.line}: " if problem.line and problem.rule in READING_RULES else ""


def _name(source: Source, file: str) -> str:
    """Return the name that a dropped manifest would have had."""
    if file.endswith(COMMAND_FILE):
        return str(load_fields(source, file).get("name", ""))
    return file.rpartition("/")[0].rpartition("/")[2]
