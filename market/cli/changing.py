"""What a command changed in a root: told in one shape, with what the packs lack and the hosts that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.composed import composition_fields, composition_lines, missing_lines, missing_rows
from market.cli.live import await_hosts, host_lines
from market.cli.plugged import finding_lines, finding_rows
from market.installer.closure import find_unmet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.plan import Change
    from market.installer.root import Root


def report_changes(
    market: Market, output: Output, root: Root, changes: Sequence[Change], *, dry_run: bool = False
) -> None:
    """Wait for the hosts of the root to show the changes, and print them; of a dry run only the plan."""
    shown = () if dry_run else await_hosts(market, root, [(change.name, change.new_version) for change in changes])
    missing = () if dry_run else find_unmet(root, [change.name for change in changes])
    document = {
        "root": str(root.path),
        "dry_run": dry_run,
        "items": [change_row(change) for change in changes],
        "missing_requires": missing_rows(missing),
        "hosts": [one.document for one in shown],
    }
    lines = [line for one in changes for line in (_line(one, root, dry_run=dry_run), *beside_lines(one))]
    output.done(document, lines if dry_run else [*lines, *missing_lines(missing), *host_lines(shown, root)])


def beside_lines(change: Change) -> list[str]:
    """Return what is told of a pack below the line of its change: what came with it or lacks, and what the scans saw."""
    return [*composition_lines(change.composition), *finding_lines(change)]


def change_row(change: Change) -> dict[str, Any]:
    """Return what happened to one pack, as `--json` prints it."""
    return {
        "name": change.name,
        "action": str(change.action),
        "old_version": change.old_version,
        "version": change.new_version,
        "backup": change.backup,
        **composition_fields(change.composition),
        "findings": finding_rows(change),
    }


def _line(change: Change, root: Root, *, dry_run: bool) -> str:
    act = str(change.action).replace("-", " ")
    kept = f"; the edited files are kept in {change.backup}" if change.backup else ""
    return f"{'would have: ' if dry_run else ''}{act} {change.name} {change.new_version} (was {change.old_version}) in {root.path}{kept}"
