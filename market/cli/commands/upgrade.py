"""`market upgrade`: bring installed packs to the newest release of the index they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, dry_run_option, index_options
from market.cli.installing import install_arrivals
from market.cli.lock_place import follow_lock
from market.cli.network import open_index
from market.cli.roots import one_root_option, writable_root
from market.errors import NotFound
from market.installer.acquire import acquire
from market.installer.receipt import load_receipts
from market.names import Requirement, parse_pack_name, parse_version
from market.resolve.choose import choose_release

if TYPE_CHECKING:
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.index_client import IndexClient
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.installer.transaction import Arrival


@command("upgrade")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@one_root_option
@index_options
@dry_run_option
def upgrade(
    market: Market, output: Output, names: tuple[str, ...], root: str, index: str, token: str, dry_run: bool
) -> None:
    r"""Upgrade the named packs, or all that came from an index, to their newest release. All or none.

    \b
    Examples:
      market upgrade
      market upgrade my-pack --dry-run
    """
    into = writable_root(market, root, output, create=not dry_run)

    def fetch(stack: ExitStack) -> list[Arrival]:
        with output.progress("looking for newer releases"):
            newer = [(receipt, _find_newer(market, receipt, index, token)) for receipt in _wanted(into, names)]
            return [acquire(client, Requirement(receipt.name)) for receipt, client in newer if client is not None]

    done = install_arrivals(market, output, into, fetch, dry_run=dry_run)
    follow_lock(market, output, into, [change.name for change in done.changes], None)
    output.done(
        done.document,
        done.lines if done.arrivals else [f"everything in {into.path} that came from an index is up to date"],
    )


def _wanted(root: Root, names: tuple[str, ...]) -> list[Receipt]:
    receipts = {str(receipt.name): receipt for receipt in load_receipts(root)}
    wanted = [str(parse_pack_name(name)) for name in names]
    missing = [name for name in wanted if name not in receipts]
    if missing:
        raise NotFound(f"{', '.join(missing)} is not installed in {root.path}", hint="see `market list`")
    elsewhere = [name for name in wanted if receipts[name].origin.kind != "index"]
    if elsewhere:
        raise NotFound(
            f"{', '.join(elsewhere)} did not come from an index", hint="install it again from where it came from"
        )
    return (
        [receipts[name] for name in wanted]
        if wanted
        else [one for one in receipts.values() if one.origin.kind == "index"]
    )


def _find_newer(market: Market, receipt: Receipt, index: str, token: str) -> IndexClient | None:
    """Return the pack's own index where it has a newer release than the installed one; nothing is ever downgraded."""
    settings = market.settings
    client = open_index(
        market, settings.index(index, token) if index or token else settings.index_at(receipt.origin.index)
    )
    chosen = choose_release(Requirement(receipt.name), client.pack(receipt.name))
    return client if parse_version(chosen.version) > receipt.version else None
