"""How a plan is shown: what will happen, or happened, to each pack, in sentences and as JSON values.

What it says is `market.installer.preview`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.composed import composition_fields, composition_lines
from market.cli.text import count_text, size_text
from market.installer.preview import PlanAction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from market.installer.plan import Change
    from market.installer.preview import PackFacts, PlannedPack
    from market.installer.taken import Taken

MAX_SHOWN_PASSED_OVER = 2


def plan_row(planned: PlannedPack) -> dict[str, Any]:
    """Return one line of a plan as `--json` prints it."""
    facts = planned.facts if planned.action is not PlanAction.KEEP else None
    return {
        "action": str(planned.action),
        "name": planned.name,
        "version": planned.version,
        "old_version": planned.old_version,
        "asked_for": planned.is_asked_for,
        "required_by": list(planned.required_by),
        "download_size": facts.download_size if facts else 0,
        "size": facts.record.size if facts else 0,
        "widens": [{"skill": one.skill, "kind": one.kind, "text": one.text} for one in planned.widens],
        "missing": [
            {"skill": one.skill, "kind": one.lack.kind, "name": one.lack.name, "advice": one.lack.advice}
            for one in planned.lacks
        ],
        "taken": [{"skill": one.skill, "pack": one.pack, "wins": one.wins} for one in planned.taken],
        "passed_over": [{"version": one.version.text, "why": one.why} for one in planned.passed_over],
    }


def item_row(planned: PlannedPack, facts: PackFacts, change: Change | None) -> dict[str, Any]:
    """Return what arrived, or would arrive, as `--json` prints it."""
    return {
        "name": facts.name,
        "version": facts.version,
        "action": str(change.action) if change else f"would {planned.action}",
        "old_version": planned.old_version,
        "publisher": facts.publisher,
        "origin": {"kind": facts.origin.kind, "location": facts.origin.location, "index": facts.origin.index},
        "tree_digest": facts.tree_digest,
        "archive_digest": facts.archive_digest,
        **composition_fields(facts.composition),
        "depends_on": None if facts.requires is None else list(facts.requires),
        "skills": [{"name": name, "kind": kind, "class": skill_class} for name, kind, skill_class in facts.skills],
        "files": [{"path": file.path, "size": file.size, "executable": file.executable} for file in facts.record.files],
    }


def planned_lines(planned: PlannedPack, root: Path, change: Change | None, changes: Sequence[str]) -> list[str]:
    """Return one pack of a plan in sentences; `change` is None where nothing was done, `changes` are those of an import."""
    facts, wanted = planned.facts, _required_by(planned)
    if facts is None:
        return [f"would {planned.action} {planned.name} {planned.version}{wanted}", *passed_over_lines(planned)]
    act = change.action if change else f"would {planned.action}"
    old = f" (was {planned.old_version})" if planned.old_version not in ("", planned.version) else ""
    owner = f" by {facts.publisher}" if facts.publisher else ""
    kept = f"; the edited files are kept in {change.backup}" if change and change.backup else ""
    source = facts.origin.index or facts.origin.location
    head = f"{act} {planned.name} {planned.version}{old} {_sizes(facts)} from {source}{owner} into {root}{wanted}{kept}"
    files = [] if change else [f"  {file.path}  {file.size} B" for file in facts.record.files]
    return [
        head,
        *changes,
        *composition_lines(facts.composition),
        *([] if change else _uncounted(facts)),
        *(f"  widens: {one.text}" for one in planned.widens),
        *_lacking(planned),
        *([] if change else taken_lines(planned)),
        *passed_over_lines(planned),
        *files,
    ]


def brief_line(planned: PlannedPack) -> str:
    """Return one pack of a plan before it is carried out, short."""
    versions = " -> ".join(dict.fromkeys(version for version in (planned.old_version, planned.version) if version))
    size = f" {_sizes(planned.facts)}" if planned.facts else ""
    return f"  {planned.action} {planned.name} {versions}{size}{_required_by(planned)}"


def total_line(plan: Sequence[PlannedPack]) -> str:
    """Return what a plan comes to, in one line."""
    counts = [(action, sum(one.action is action for one in plan)) for action in PlanAction]
    words = ", ".join(f"{count} to {action}" for action, count in counts if count)
    facts = [one.facts for one in plan if one.facts and one.action is not PlanAction.KEEP]
    download = size_text(sum(one.download_size for one in facts))
    return f"{words or 'nothing to do'}: {download} to download, {size_text(sum(one.record.size for one in facts))} on disk"


def _sizes(facts: PackFacts) -> str:
    return f"({count_text(len(facts.record.files), 'file')}, {size_text(facts.record.size)})"


def _required_by(planned: PlannedPack) -> str:
    return f", required by {', '.join(planned.required_by)}" if planned.required_by else ""


def _lacking(planned: PlannedPack) -> list[str]:
    return [f"  {one.skill} is not eligible here: it needs {one.lack.text}; {one.lack.advice}" for one in planned.lacks]


def _uncounted(facts: PackFacts) -> list[str]:
    """Say what comes along that no index of packs knows the size of."""
    if facts.composition is not None or facts.requires == ():
        return []
    what = ", ".join(facts.requires) if facts.requires else "its file says what that is"
    return [f"  with what its code depends on, not counted: {what}"]


def taken_lines(planned: PlannedPack) -> list[str]:
    """Return which names other packs have too, and under which key the one that loses will be called."""
    return [_taken_line(planned.name, one) for one in planned.taken]


def _taken_line(name: str, taken: Taken) -> str:
    winner, loser = (name, taken.pack) if taken.wins else (taken.pack, name)
    how = f"takes it from {loser}" if taken.wins else f"keeps it from {loser}"
    return (
        f"  warning: {taken.skill} is a skill of {taken.pack} too: {winner} {how}, whose own is {loser}:{taken.skill}"
    )


def passed_over_lines(planned: PlannedPack) -> list[str]:
    """Return which newer releases may not be installed, and why."""
    return [
        f"  {planned.name} {one.version} was passed over: {one.why}"
        for one in planned.passed_over[:MAX_SHOWN_PASSED_OVER]
    ]
