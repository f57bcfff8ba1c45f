"""Problems as a SARIF 2.1.0 document, the form in which code hosts and editors take findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from market.errors import Severity
from market.pack.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from market.errors import Problem

SARIF_VERSION = "2.1.0"
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

# SARIF has no word for what stops publishing only.
_LEVELS = {Severity.ERROR: "error", Severity.REFUSAL: "error", Severity.WARNING: "warning"}


def dump_sarif(checked: Iterable[tuple[str, Sequence[Problem]]], tool_version: str) -> dict[str, Any]:
    """Return one run over several packs, each given by its folder or archive, as it was written, and its problems."""
    found = [(path, problem) for path, problems in checked for problem in problems]
    rules = list(dict.fromkeys(problem.rule for _, problem in found))
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "market check",
        "version": tool_version,
        "rules": [_dump_rule(rule, next(problem for _, problem in found if problem.rule == rule)) for rule in rules],
    }
    results = [_dump_result(path, problem, numbers[problem.rule]) for path, problem in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SARIF_SCHEMA, "version": SARIF_VERSION, "runs": [run]}


def _dump_rule(rule_id: str, problem: Problem) -> dict[str, Any]:
    """A rule of the disk isn't in the table of packs; its problem says the same."""
    rule = RULES.get(rule_id)
    return {
        "id": rule_id,
        "shortDescription": {"text": rule.sentence if rule else problem.reason or problem.text},
        "help": {"text": (rule.fix if rule else problem.fix) or "see the message"},
        "defaultConfiguration": {"level": _LEVELS[problem.severity]},
        "properties": {"severity": str(problem.severity)},
    }


def _dump_result(path: str, problem: Problem, number: int) -> dict[str, Any]:
    text = ". ".join(
        part for part in (problem.text, f"Why: {problem.reason}", f"Fix: {problem.fix}" if problem.fix else "") if part
    )
    physical: dict[str, Any] = {"artifactLocation": {"uri": _dump_uri(path, problem.file)}}
    if problem.line:
        physical["region"] = {"startLine": problem.line, **({"startColumn": problem.column} if problem.column else {})}
    return {
        "ruleId": problem.rule,
        "ruleIndex": number,
        "level": _LEVELS[problem.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": physical}],
    }


def _dump_uri(path: str, file: str) -> str:
    """A relative reference; what lies in an archive is shown below its name. A first part with a colon would be a scheme."""
    whole = "/".join(part for part in (path.rstrip("/"), file) if part)
    return quote(whole.removeprefix("./") or ".", safe="/")
