"""How a verdict is shown: as text, and as one JSON document. How it comes about is `market.cli.checking`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.report import dump_problems
from market.cli.text import count_text
from market.pack.clients import CLIENTS
from market.pack.explain import DISCOVERY_RULE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.checking import Verdict
    from market.cli.fixing import Fixed
    from market.pack.clients import GuideVerdict

_VERSIONS = {client.id: client.version for client in CLIENTS}


def check_document(verdict: Verdict, fixed: Sequence[Fixed] | None = None) -> dict[str, Any]:
    """Return a verdict as `--json` prints it; `files` and `fixed` are there where they were asked for."""
    document = {
        "path": str(verdict.path),
        "name": verdict.pack.name if verdict.pack else "",
        "version": str(verdict.pack.version or "") if verdict.pack else "",
        "installable": verdict.is_installable,
        "installable_here": verdict.is_installable_here,
        "publishable": verdict.is_publishable,
        "grade": str(verdict.grade or ""),
        "skills": [{"name": skill.name, "kind": skill.kind, "class": skill.skill_class} for skill in verdict.skills],
        "guides": [_dump_guide(guide) for guide in verdict.guides],
        "left_out": [{"path": path, "why": why} for path, why in verdict.left_out],
        "problems": dump_problems(verdict.problems),
    }
    if verdict.files:
        document["files"] = [{"path": path, "why": why} for path, why in verdict.files]
    if fixed is not None:
        document["fixed"] = [{"file": one.file, "changes": list(one.changes), "diff": one.diff} for one in fixed]
    return document


def check_lines(verdict: Verdict) -> list[str]:
    """Return a verdict for people: one line that sums up, the problems, who refuses a guide, what is left out."""
    label = f"{verdict.pack.name} {verdict.pack.version or '(no version)'}" if verdict.pack else "no pack"
    grade = f", {verdict.grade}" if verdict.grade else ""
    return [
        f"{verdict.path}: {label}, {count_text(len(verdict.skills), 'skill')}{grade}: {_judgement(verdict)}",
        *(f"  {line}" for problem in verdict.problems for line in str(problem).splitlines()),
        *(line for guide in verdict.guides for line in _guide_lines(guide)),
        *(f"  left out: {path} ({why})" for path, why in verdict.left_out),
    ]


def explain_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the one rule, and of each file what it counts as."""
    files = [f"{verdict.path}/{path}: {why}" for verdict in verdicts for path, why in verdict.files]
    return ["", "Which files are skills:", *(f"  {sentence}" for sentence in DISCOVERY_RULE), *files]


def _judgement(verdict: Verdict) -> str:
    """Return the verdict in a few words: may an index take it, and this machine?"""
    here = verdict.is_installable_here
    if not verdict.is_installable:
        return "not a good pack"
    if not verdict.is_publishable:
        return (
            "can be installed, but an index would refuse it"
            if here
            else "an index would refuse it, and so does this machine"
        )
    if not verdict.is_proven:
        return "not proven; to install it here would fail"
    return "good" if here else "good; it can't be installed on this machine"


def _dump_guide(guide: GuideVerdict) -> dict[str, Any]:
    clients = [
        {"client": one.client, "version": _VERSIONS[one.client], "accepts": one.accepts, "reason": one.reason}
        for one in guide.clients
    ]
    return {"file": guide.file, "grade": str(guide.grade), "clients": clients}


def _guide_lines(guide: GuideVerdict) -> list[str]:
    """Name who refuses, those with one reason together; silence means that all take it."""
    refusing: dict[str, list[str]] = {}
    for one in guide.clients:
        if not one.accepts:
            refusing.setdefault(one.reason, []).append(one.client)
    return [f"  {guide.file} is refused by {', '.join(clients)}: {reason}" for reason, clients in refusing.items()]
