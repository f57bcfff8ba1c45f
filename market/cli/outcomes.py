"""What came of a call, told to people or to a program: the same for a call made here and for one made in a host."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from market.cli.report import OK, SKILL_FAILED
from market.cli.text import printable
from market.errors import InvalidInput, MarketError, NotFound, Refused
from market.model import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.cli.output import Output
    from market.model import Outcome

_REFUSALS: dict[OutcomeKind, type[MarketError]] = {
    OutcomeKind.DENIED: Refused,
    OutcomeKind.INVALID: InvalidInput,
    OutcomeKind.UNKNOWN: NotFound,
}


def report_outcome(output: Output, key: str, outcome: Outcome, where: str, *, hint: str = "") -> int:
    """Print an outcome and return the exit code. A call that never started raises the error that it stands for."""
    if outcome.kind in _REFUSALS:
        raise _REFUSALS[outcome.kind](outcome.error, hint=hint, details={"key": key, "where": where})
    if output.as_json:
        output.answer(_document(key, outcome, where), ())
    elif outcome.kind is OutcomeKind.OK:
        _print_logs(output, outcome)
        click.echo(outcome.result_text or json.dumps(outcome.result))
    else:
        click.echo(printable(f"error: {key} {_verb(outcome.kind)}: {outcome.error}"), err=True)
    return OK if outcome.kind is OutcomeKind.OK else SKILL_FAILED


def refusal_hint(kind: OutcomeKind, key: str, schema: Mapping[str, object] | None) -> str:
    """Return what to do about a call that was refused though the skill's state is in nobody's way."""
    if kind is OutcomeKind.DENIED:
        return "the arguments aren't the reason; `market audit` has the attempt"
    return call_hint(key, schema)


def call_hint(key: str, schema: Mapping[str, object] | None) -> str:
    """Return what a call that didn't start should have looked like. Without a schema the skill is a guide."""
    if schema is None:
        return "point your agent at that file, or print it with cat"
    properties, required = schema.get("properties"), schema.get("required")
    takes = (
        [_argument(name, part, required) for name, part in properties.items()] if isinstance(properties, dict) else []
    )
    return f"{key} takes {', '.join(takes) if takes else 'any object'}"


def _argument(name: str, part: object, required: object) -> str:
    kind = part.get("type", "any") if isinstance(part, dict) else "any"
    return f"{name} ({kind}{', required' if isinstance(required, list) and name in required else ''})"


def _document(key: str, outcome: Outcome, where: str) -> dict[str, object]:
    return {
        "key": key,
        "where": where,
        "kind": outcome.kind,
        "result": outcome.result,
        "error": outcome.error,
        "duration_ms": outcome.duration_ms,
        "exit_code": outcome.exit_code,
        "stderr": outcome.stderr,
        "truncated": outcome.truncated,
    }


def _print_logs(output: Output, outcome: Outcome) -> None:
    if outcome.stderr.strip():
        output.remark(outcome.stderr.rstrip("\n"))


def _verb(kind: OutcomeKind) -> str:
    return {OutcomeKind.TIMEOUT: "took too long", OutcomeKind.CANCELLED: "was ended"}.get(kind, "failed")
