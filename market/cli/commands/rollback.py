"""`market rollback`: go back to the release that stood there before, without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.changing import report_changes
from market.cli.command import command, dry_run_option
from market.cli.lock_place import follow_lock
from market.cli.locking import lock_timeout_option
from market.cli.plugged import open_guard
from market.cli.roots import one_root_option, writable_root
from market.errors import InvalidInput, NotFound
from market.installer.dependencies import make_dependency_terms
from market.installer.plan import Action, Change
from market.installer.rollback import choose_earlier, find_last_changed, rollback_packs
from market.installer.transaction import lock_root
from market.names import parse_pack_name

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.root import Root


@command("rollback")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--to", "version", default="", metavar="VERSION", help="A kept version. [default: the one before]")
@click.option("--force", is_flag=True, help="Replace a pack that was edited; the edited files are kept as a backup.")
@one_root_option
@lock_timeout_option
@dry_run_option
def rollback(
    market: Market,
    output: Output,
    names: tuple[str, ...],
    version: str,
    force: bool,
    root: str,
    lock_timeout: float,
    dry_run: bool,
) -> None:
    r"""Put the release that stood there before back in its place, all packs or none. No network is needed.

    A market.lock here that describes the root goes back too.

    Without a name the packs are meant that the last install, upgrade or rollback changed together.

    \b
    Examples:
      market rollback my-pack
      market rollback my-pack --to 1.2.0
      market rollback --dry-run
    """
    if version and len(names) != 1:
        raise InvalidInput("--to needs one pack", hint="name the pack whose version this is")
    into = writable_root(market, root, output, create=False)
    if not into.state.is_dir():
        raise NotFound(f"nothing is installed in {into.path}", hint="see what is: market list")
    if dry_run:
        report_changes(market, output, into, _plan(into, _chosen(into, names), version), dry_run=True)
        return
    guard = open_guard(market)
    with (
        lock_root(into, timeout_seconds=lock_timeout, guard=guard) as locked,
        output.progress(f"rolling back in {into.path}"),
    ):
        changes = rollback_packs(
            locked,
            _chosen(into, names),
            market.now(),
            version=version,
            overwrite_edits=force,
            dependencies=make_dependency_terms(market.environ),
        )
    follow_lock(market, output, into, [change.name for change in changes], None)
    report_changes(market, output, into, changes)


def _chosen(root: Root, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the named packs, or those that were changed last. Where nothing was ever installed, nothing is written either."""
    chosen = tuple(str(parse_pack_name(name)) for name in names) or find_last_changed(root)
    if not chosen:
        raise NotFound(f"nothing is installed in {root.path}", hint="see what is: market list")
    return chosen


def _plan(root: Root, names: tuple[str, ...], version: str) -> tuple[Change, ...]:
    pairs = [(name, *choose_earlier(root, name, version)) for name in names]
    return tuple(
        Change(name, Action.ROLLED_BACK, receipt.version.text, earlier.version.text) for name, receipt, earlier in pairs
    )
