"""`market sync`: make a root equal the lock file."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.cli.changing import beside_lines
from market.cli.command import command, dry_run_option
from market.cli.composed import missing_lines
from market.cli.live import await_hosts, host_lines
from market.cli.lock_place import existing_lock
from market.cli.locked import give_locked_layout
from market.cli.locking import lock_timeout_option
from market.cli.plugged import open_guard
from market.cli.restoring import restore_all
from market.cli.roots import one_root_option, writable_root
from market.cli.syncing import plan_lines, sync_document, sync_line
from market.installer.closure import find_unmet
from market.installer.listing import list_installed
from market.installer.lock_file import LOCK_NAME
from market.installer.sync import change_packs, compare_root
from market.installer.transaction import lock_root

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("sync")
@click.argument("file", default=LOCK_NAME, metavar="[FILE]")
@one_root_option
@click.option("--prune", is_flag=True, help="Uninstall the packs that the lock file doesn't name.")
@click.option("--force", is_flag=True, help="Replace packs that were edited; the edited files are kept as a backup.")
@lock_timeout_option
@dry_run_option
def sync(
    market: Market, output: Output, file: str, root: str, prune: bool, force: bool, lock_timeout: float, dry_run: bool
) -> None:
    r"""Make a root equal market.lock: what is missing or different is installed, all or none. The plan is shown first.

    Packs that the file doesn't name stay, unless --prune is given. The lock file is never changed.

    \b
    Examples:
      market sync --dry-run
      market sync --prune
      market sync project/market.lock --root /srv/skills
    """
    place = existing_lock(Path(file))
    into = writable_root(market, root or str(place.described_root(market)), output, create=not dry_run)
    if dry_run:
        plan = compare_root(place.lock, list_installed(into))
        output.done(
            sync_document(place, into, plan, (), (), (), prune=prune, dry_run=True),
            plan_lines(plan, into, prune=prune),
        )
        return
    with ExitStack() as stack:
        give_locked_layout(into, file)
        with lock_root(into, timeout_seconds=lock_timeout, guard=open_guard(market)) as locked:
            plan = compare_root(place.lock, list_installed(into))
            for line in plan_lines(plan, into, prune=prune):
                output.remark(line)
            with output.progress("fetching"):
                arrivals = restore_all(market, output, stack, into, place, plan.wanted)
            removed = plan.extra if prune else ()
            changes = change_packs(locked, arrivals, removed, market.now(), overwrite_edits=force)
        # What stays counts too: the lock file may name a pack without what it requires.
        missing = find_unmet(into, [pack.name for pack in place.lock.packs])
        shown = await_hosts(market, into, [(change.name, change.new_version) for change in changes])
    lines = [
        *(line for change in changes for line in (sync_line(change, into), *beside_lines(change))),
        *missing_lines(missing),
        f"{into.path} equals {place.path}" if not plan.extra or prune else "",
    ]
    output.done(
        sync_document(place, into, plan, changes, shown, missing, prune=prune, dry_run=False),
        [*filter(None, lines), *(host_lines(shown, into) if changes else ())],
    )
