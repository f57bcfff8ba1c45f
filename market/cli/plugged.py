"""The plugins in the command line: loaded by the commands that need them and by no other, and what their scans saw in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.operator import local_operator
from market.cli.report import dump_problems
from market.disk.disabled_plugins import load_disabled
from market.installer.guard import Guard, own_installing
from market.plugins.loaded import load_plugins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from market.cli.market import Market
    from market.errors import Problem
    from market.installer.plan import Change
    from market.plugins.loaded import Plugins


def open_plugins(market: Market, own: Mapping[str, object]) -> Plugins:
    """Load the plugins of this user beside Market's own implementations."""
    return load_plugins(own, entry_points=market.plugin_entries, disabled=load_disabled(market.home.plugins))


def open_guard(market: Market) -> Guard:
    """Return whom a change of a root is asked of and told to, for the person who runs this command."""
    return Guard(open_plugins(market, own_installing()), local_operator())


def finding_rows(change: Change | None) -> list[dict[str, Any]]:
    """Return what the scans saw in a pack, as `--json` prints it."""
    return dump_problems(change.findings) if change else []


def sent_finding_lines(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what the scans of a server saw and stopped nothing, in sentences."""
    return [f"  {row['file']}:{row['line']}: {row['severity']}: {row['text']} [{row['rule']}]" for row in rows]


def new_findings(rows: Iterable[dict[str, Any]], known: Iterable[Problem]) -> tuple[dict[str, Any], ...]:
    """Return those findings of a server that the review here didn't name already."""
    told = {(problem.rule, problem.file, problem.line) for problem in known}
    return tuple(row for row in rows if (row["rule"], row["file"], row["line"]) not in told)


def finding_lines(change: Change | None) -> list[str]:
    """Return what the scans saw in a pack and stopped nothing, in sentences."""
    return [f"  {line}" for finding in (change.findings if change else ()) for line in str(finding).splitlines()]
