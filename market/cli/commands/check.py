"""`market check`: what publish, the index, install and the host would say of a pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.building import parse_given
from market.cli.checking import Verdict, check_path
from market.cli.command import command, given_options
from market.cli.report import EXIT_CODES, dump_problems
from market.cli.targets import existing_path
from market.cli.text import count_text
from market.errors import InvalidInput

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@given_options
def check(market: Market, output: Output, paths: tuple[str, ...], name: str, version: str) -> int:
    r"""Check folders or archives, and name everything that is wrong with its file, line and correction.

    Exit code 0 means that an index would take it.

    \b
    Examples:
      market check ./my-pack
      market check skills/* --json
    """
    given = parse_given(name, version)
    verdicts = [check_path(existing_path(path), given) for path in paths]
    output.answer(
        {"items": [_document(verdict) for verdict in verdicts]},
        [line for verdict in verdicts for line in _lines(verdict)],
    )
    return 0 if all(verdict.is_publishable for verdict in verdicts) else EXIT_CODES[InvalidInput]


def _document(verdict: Verdict) -> dict[str, Any]:
    return {
        "path": str(verdict.path),
        "name": verdict.pack.name if verdict.pack else "",
        "version": str(verdict.pack.version or "") if verdict.pack else "",
        "installable": verdict.is_installable,
        "publishable": verdict.is_publishable,
        "skills": [{"name": skill.name, "kind": skill.kind, "class": skill.skill_class} for skill in verdict.skills],
        "left_out": [{"path": path, "why": why} for path, why in verdict.left_out],
        "problems": dump_problems(verdict.problems),
    }


def _lines(verdict: Verdict) -> list[str]:
    problems = [f"  {line}" for problem in verdict.problems for line in str(problem).splitlines()]
    left_out = [f"  left out: {path} ({why})" for path, why in verdict.left_out]
    if not verdict.is_installable:
        word = "not a good pack"
    else:
        word = "good" if verdict.is_publishable else "can be installed, but an index would refuse it"
    label = f"{verdict.pack.name} {verdict.pack.version or '(no version)'}" if verdict.pack else "no pack"
    return [f"{verdict.path}: {label}, {count_text(len(verdict.skills), 'skill')}: {word}", *problems, *left_out]
