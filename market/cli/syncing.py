"""How a sync is told: its plan, what it did, and its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.changing import change_row
from market.cli.composed import composition_lines, missing_rows

if TYPE_CHECKING:
    from market.cli.live import Shown
    from market.cli.lock_place import LockPlace
    from market.installer.plan import Change
    from market.installer.root import Root
    from market.installer.sync import Difference


def plan_lines(plan: Difference, root: Root, *, prune: bool) -> list[str]:
    """Return what a sync is going to do."""
    removed = plan.extra if prune else ()
    counts = f"{len(plan.wanted)} to install, {len(removed)} to uninstall, {len(plan.same)} as they are"
    lines = [f"plan for {root.path}: {counts}"]
    for pack in plan.wanted:
        lines.append(f"  + {pack.name} {pack.version} from {pack.origin.index or pack.origin.location}")
        lines += [f"  {line}" for line in composition_lines(pack.composition)]
    lines += [f"  - {name}" for name in removed]
    if plan.extra and not prune:
        lines.append(f"not in the lock file, and kept without --prune: {', '.join(plan.extra)}")
    return lines


def sync_line(change: Change, root: Root) -> str:
    """Return what was done to one pack."""
    versions = " -> ".join(dict.fromkeys(version for version in (change.old_version, change.new_version) if version))
    kept = f"; its edited files are kept in {change.backup}" if change.backup else ""
    return f"{change.action} {change.name} {versions} in {root.path}{kept}"


def sync_document(
    place: LockPlace,
    root: Root,
    plan: Difference,
    changes: tuple[Change, ...],
    shown: tuple[Shown, ...],
    missing: tuple[tuple[str, str], ...],
    *,
    prune: bool,
    dry_run: bool,
) -> dict[str, Any]:
    """Return what `sync --json` prints."""
    planned = [
        *({"name": one.name, "action": "would install", "version": one.version.text} for one in plan.wanted),
        *({"name": name, "action": "would remove"} for name in plan.extra if prune),
    ]
    return {
        "lock": str(place.path.absolute()),
        "root": str(root.path),
        "dry_run": dry_run,
        "items": planned if dry_run else [change_row(one) for one in changes],
        "same": [one.name for one in plan.same],
        "extra": [] if prune else list(plan.extra),
        "missing_requires": missing_rows(missing),
        "hosts": [one.document for one in shown],
    }
