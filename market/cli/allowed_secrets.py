"""Secrets that an author allows, one place at a time; all others stop `archive` and `publish`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from market.errors import InvalidInput
from market.pack.review import review_pack
from market.pack.secrets import SECRET_RULE, without_allowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.checking import Verdict
    from market.errors import Problem
    from market.model import Pack
    from market.pack.secrets import Place
    from market.pack.source import Source


def allow_secret_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--allow-secret`."""
    return click.option(
        "--allow-secret",
        multiple=True,
        metavar="PATH:LINE",
        help="Let what looks like a secret at this place pass. Give it once for each place.",
    )(function)


def drop_allowed(verdict: Verdict, allowed: frozenset[Place]) -> Verdict:
    """Return a verdict in which allowed secrets are no problem."""
    return replace(verdict, problems=without_allowed(verdict.problems, allowed)) if allowed else verdict


def review_source(source: Source, pack: Pack, what: str, allowed: frozenset[Place]) -> tuple[Problem, ...]:
    """Return what the review says of what shall be given away; raises `InvalidInput` with every secret that nobody allowed."""
    reviewed = without_allowed(review_pack(source, pack), allowed)
    secrets = [problem for problem in reviewed if problem.rule == SECRET_RULE]
    if secrets:
        count = f"{len(secrets)} secret{'' if len(secrets) == 1 else 's'}"
        raise InvalidInput(
            f"{what} holds {count} and isn't given away",
            problems=secrets,
            hint="take them out, or allow each with --allow-secret PATH:LINE",
        )
    return reviewed
