"""The command line's one table from error to exit code, and how an error is printed. The web's table is `market.web.problems`.

| exit | error | meaning |
|---|---|---|
| 0 | - | done |
| 1 | - | the skill that was run failed |
| 2 | InvalidInput | what was given can't be read or breaks a rule |
| 3 | NotFound | it doesn't exist, or not for this caller |
| 4 | Conflict | it clashes with what is there |
| 5 | Untrusted | it isn't what it claims to be |
| 6 | Refused | not allowed: no or a wrong token, a policy, a directory that isn't writable |
| 7 | Unavailable | something outside doesn't answer or has no room |
| 8 | PluginError | a plugin failed |
| 9 | RateLimited | a server asks to come back later |
| 70 | - | a bug of ours; the sentence names a log file |
| 130 | - | interrupted: by Ctrl-C, TERM, or the end of its terminal |
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from market.cli.text import printable
from market.errors import (
    Conflict,
    InvalidInput,
    MarketError,
    NotFound,
    PluginError,
    RateLimited,
    Refused,
    Unavailable,
    Untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.errors import Problem

OK = 0
SKILL_FAILED = 1
BUG = 70
INTERRUPTED = 130
EXIT_CODES: Mapping[type[MarketError], int] = {
    InvalidInput: 2,
    NotFound: 3,
    Conflict: 4,
    Untrusted: 5,
    Refused: 6,
    # Before its parent, which the look-up would find else.
    RateLimited: 9,
    Unavailable: 7,
    PluginError: 8,
}


def exit_code_of(error: MarketError) -> int:
    """Return the exit code of an error's class; one outside the table counts as a bug."""
    return next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), BUG)


def report_error(error: MarketError, *, as_json: bool) -> int:
    """Print an error - for people on stderr, with `--json` as one document on stdout - and return its exit code."""
    if as_json:
        click.echo(json.dumps({"error": dump_error(error)}, indent=2, default=str))
    else:
        click.echo("\n".join(_lines(error)), err=True)
    return exit_code_of(error)


def dump_error(error: MarketError) -> dict[str, Any]:
    """Return an error as JSON values: code, message, why, hint, problems, details."""
    return {
        "code": error.slug,
        "message": error.message,
        "why": error.why,
        "hint": error.hint,
        "problems": dump_problems(error.problems),
        "details": error.details,
    }


def dump_problems(problems: Iterable[Problem]) -> list[dict[str, Any]]:
    """Return problems as JSON values."""
    return [{**asdict(problem), "severity": str(problem.severity)} for problem in problems]


def usage_error(error: click.ClickException) -> InvalidInput:
    """Return click's complaint about an option or argument as our error."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "market"
    return InvalidInput(error.format_message(), hint=f"see `{path} --help`")


def silence_stdout() -> None:
    """Let the interpreter end in peace after the reader of a pipe has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _lines(error: MarketError) -> list[str]:
    labelled = [f"  {label}: {text}" for label, text in (("why", error.own_why), ("hint", error.hint)) if text]
    problems = [f"  {line}" for problem in error.problems for line in str(problem).splitlines()]
    head = (
        click.style("error:", fg="red", bold=True)
        if sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        else "error:"
    )
    return [f"{head} {printable(error.message)}", *(printable(line) for line in [*problems, *labelled])]
