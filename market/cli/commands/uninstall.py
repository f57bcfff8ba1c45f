"""`market uninstall`: take packs out of a root."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.cli.command import command, dry_run_option
from market.cli.live import await_hosts, host_lines
from market.cli.lock_place import follow_lock
from market.cli.locking import lock_timeout_option
from market.cli.plugged import open_guard
from market.cli.roots import find_installed, root_option
from market.cli.targeting import Place, target_options
from market.errors import InvalidInput
from market.installer.closure import find_unmet_after
from market.installer.root import open_root
from market.installer.transaction import lock_root, uninstall_packs
from market.names import parse_pack_name

if TYPE_CHECKING:
    from market.cli.live import Shown
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.plan import Change
    from market.installer.root import Root


@command("uninstall")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@root_option
@target_options
@lock_timeout_option
@dry_run_option
def uninstall(
    market: Market,
    output: Output,
    names: tuple[str, ...],
    roots: tuple[str, ...],
    target: str | None,
    scope: str,
    lock_timeout: float,
    dry_run: bool,
) -> None:
    r"""Uninstall packs, all or none. Only what was installed is deleted, and only the first root that has them is touched.

    \b
    Examples:
      market uninstall my-pack
      market uninstall my-pack other-pack --root /srv/skills
    """
    if target is not None:
        roots = (Place("".join(roots), target, scope).name(market),)
    found = [find_installed(market, parse_pack_name(name), roots) for name in names]
    places = {installed.path.parent for installed in found}
    if len(places) > 1:
        raise InvalidInput(
            "these packs are in several roots",
            why=", ".join(map(str, sorted(places))),
            hint="uninstall them root by root, with --root",
        )
    root = open_root(places.pop(), create=False)
    missing = find_unmet_after(root, [str(installed.name) for installed in found])
    changes: tuple[Change, ...] = ()
    shown: tuple[Shown, ...] = ()
    if not dry_run:
        with lock_root(root, timeout_seconds=lock_timeout, guard=open_guard(market)) as locked:
            changes = uninstall_packs(locked, [installed.name for installed in found], market.now())
        follow_lock(market, output, root, [change.name for change in changes], None)
        shown = await_hosts(market, root, [(installed.name, "") for installed in found])
    document = {
        "root": str(root.path),
        "dry_run": dry_run,
        "items": [_document(one) for one in changes]
        if changes
        else [{"name": one.name, "action": "would remove"} for one in found],
        "missing_requires": [{"name": name, "requires": requires} for name, requires in missing],
        "hosts": [one.document for one in shown],
    }
    for name, requires in missing:
        output.remark(f"{name} requires {requires}, which {'would be' if dry_run else 'is'} gone")
    planned = [f"would remove {one.name} from {root.path}" for one in found]
    output.done(document, planned if dry_run else [*(_line(one, root) for one in changes), *host_lines(shown, root)])


def _document(change: Change) -> dict[str, Any]:
    return {"name": change.name, "action": str(change.action), "version": change.old_version, "backup": change.backup}


def _line(change: Change, root: Root) -> str:
    kept = f"; its edited files are kept in {change.backup}" if change.backup else ""
    return f"{change.action} {change.name} {change.old_version} from {root.path}{kept}"
