"""`market doctor`: find out what is wrong, and put right what is safe."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.cli.doctoring import examine_home, examine_hosts, examine_indexes, repair_home
from market.cli.locking import lock_timeout_option
from market.cli.report import EXIT_CODES, OK
from market.cli.roots import chosen_roots, root_option
from market.errors import Conflict, MarketError, Unavailable
from market.installer.doctor import ERROR, NOTE, WARNING, Finding, examine_root
from market.installer.foreign_view import examine_clients
from market.installer.repair import clear_leftovers, repair_modes
from market.installer.transaction import lock_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.root import Root


@command("doctor")
@click.option("--fix", is_flag=True, help="Put right what is safe: nobody's work is touched and no pack changes.")
@click.option("--offline", is_flag=True, help="Ask no index.")
@root_option
@lock_timeout_option
def doctor(
    market: Market, output: Output, fix: bool, offline: bool, roots: tuple[str, ...], lock_timeout: float
) -> int:
    r"""Look for what is wrong with roots, this user's files, indexes and running hosts, and say how to fix it.

    Exit code 4 where an error remains; warnings and notes don't count.

    \b
    Examples:
      market doctor
      market doctor --fix
      market doctor --offline --json
    """
    chosen = chosen_roots(market, roots)
    with output.progress("looking"):
        found = _examine(market, chosen, offline=offline)
    fixed: list[Finding] = []
    if fix:
        _repair(market, chosen, lock_timeout)
        left = _examine(market, chosen, offline=True)
        fixed = [one for one in found if one.is_safe and one not in left]
        found = [one for one in found if one not in fixed]
    rows = [{**asdict(one), "fixed": one in fixed} for one in (*fixed, *found)]
    errors = sum(one.severity == ERROR for one in found)
    lines = [line for one in fixed for line in _lines(one, "fixed")]
    for severity in (ERROR, WARNING, NOTE):
        lines += [line for one in found if one.severity == severity for line in _lines(one, severity)]
    looked = ", ".join(str(root.path) for root in chosen) or "no root: none exists yet"
    output.answer(
        {"items": rows, "total": len(rows), "errors": errors, "roots": [str(root.path) for root in chosen]},
        lines or [f"nothing is wrong (looked at {looked})"],
    )
    return EXIT_CODES[Conflict] if errors else OK


def _examine(market: Market, roots: Sequence[Root], *, offline: bool) -> list[Finding]:
    paths = [root.path for root in roots]
    found = [finding for root in roots for finding in examine_root(root, paths)]
    found += [finding for root in roots for finding in examine_clients(root, market.environ, Path.cwd())]
    found += [*examine_home(market), *examine_hosts(market, roots)]
    return found if offline else [*found, *examine_indexes(market)]


def _repair(market: Market, roots: Sequence[Root], lock_timeout: float) -> None:
    repair_home(market)
    for root in roots:
        if not root.state.exists():
            continue
        try:
            repair_modes(root)
            with lock_root(root, timeout_seconds=lock_timeout, guard=None) as locked:
                clear_leftovers(locked)
        except Unavailable:
            raise
        except MarketError:
            # What keeps a root from being repaired is among the findings already, and the other roots can be.
            continue


def _lines(finding: Finding, word: str) -> list[str]:
    safe = " (--fix does it)" if finding.is_safe and word != "fixed" else ""
    return [f"{word}: {finding.place}: {finding.text} [{finding.rule}]", f"    fix: {finding.fix}{safe}"]
