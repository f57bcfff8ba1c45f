"""`market upgrade`: bring installed packs to the newest release of the index they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, index_options
from market.cli.installing import carry_out
from market.cli.lock_place import follow_lock
from market.cli.network import open_indexes_of
from market.cli.permit import permit_options
from market.cli.targeting import open_place, place_options
from market.cli.terms import make_terms, terms_options
from market.errors import NotFound
from market.installer.closure import Order
from market.installer.pins import load_pins
from market.installer.receipt import load_pack_receipts
from market.installer.release_check import check_release
from market.names import Requirement, parse_pack_name
from market.resolve.candidates import Prefer
from market.resolve.provider import Wish

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.permit import Permit
    from market.cli.targeting import Place
    from market.client.indexes import Indexes
    from market.installer.receipt import Receipt
    from market.installer.root import Root


@command("upgrade")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@place_options
@index_options
@click.option(
    "--no-deps", is_flag=True, help="Leave out what the packs require, and what Python code in wheels depends on."
)
@terms_options
@permit_options
def upgrade(
    market: Market,
    output: Output,
    names: tuple[str, ...],
    place: Place,
    index: str,
    token: str,
    no_deps: bool,
    strict_needs: bool,
    minimum_release_age: str,
    permit: Permit,
) -> None:
    r"""Upgrade the named packs, or all that came from an index, to their newest release. All or none.

    What they require comes along; nothing goes back to an older release. Without names, pinned packs are passed over.

    \b
    Examples:
      market upgrade
      market upgrade my-pack --dry-run
    """
    into = open_place(market, place, output, create=not permit.dry_run)
    indexes = open_indexes_of(market, load_pack_receipts(into), index=index, token=token)
    done = carry_out(
        market,
        output,
        into,
        indexes,
        lambda stack: _order(into, indexes, names, follow=not no_deps),
        make_terms(market, minimum_release_age, strict_needs=strict_needs, no_deps=no_deps, reuse=into),
        permit,
    )
    follow_lock(market, output, into, [change.name for change in done.changes], None)
    idle = [f"everything in {into.path} that came from an index is up to date"]
    output.done(done.document, [*idle, *done.passed_over_lines] if done.is_idle else done.lines)


def _order(root: Root, indexes: Indexes, names: tuple[str, ...], *, follow: bool) -> Order:
    wanted = _wanted(root, names)
    for receipt in wanted:
        check_release(receipt, indexes.document(receipt.pack_name))
    wishes = [Wish(Requirement(receipt.pack_name), Prefer.UPGRADE) for receipt in wanted]
    return Order(tuple(wishes), follow=follow)


def _wanted(root: Root, names: tuple[str, ...]) -> list[Receipt]:
    receipts = load_pack_receipts(root)
    wanted = [str(parse_pack_name(name)) for name in names]
    missing = [name for name in wanted if name not in receipts]
    if missing:
        raise NotFound(f"{', '.join(missing)} is not installed in {root.path}", hint="see `market list`")
    elsewhere = [name for name in wanted if receipts[name].origin.kind != "index"]
    if elsewhere:
        raise NotFound(
            f"{', '.join(elsewhere)} did not come from an index", hint="install it again from where it came from"
        )
    if wanted:
        return [receipts[name] for name in wanted]
    pins = load_pins(root)
    return [one for one in receipts.values() if one.origin.kind == "index" and one.pack_name not in pins]
