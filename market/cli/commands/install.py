"""`market install`: install packs from an index, a folder or an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.arriving import add_folder_hint, read_order
from market.cli.building import parse_given
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.installing import Permit, carry_out
from market.cli.network import open_indexes
from market.cli.roots import one_root_option, writable_root
from market.errors import InvalidInput, MarketError
from market.resolve.policy import Policy

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("install")
@click.argument("targets", nargs=-1, required=True, metavar="REQUIREMENT|FOLDER|ARCHIVE...")
@one_root_option
@given_options
@index_options
@click.option("--force", is_flag=True, help="Replace a pack that was edited; the edited files are kept as a backup.")
@click.option("--accept-publisher", is_flag=True, help="Accept that the pack now comes from another publisher.")
@click.option("--no-deps", is_flag=True, help="Leave out what the packs require.")
@dry_run_option
def install(
    market: Market,
    output: Output,
    targets: tuple[str, ...],
    root: str,
    name: str,
    version: str,
    index: str,
    token: str,
    force: bool,
    accept_publisher: bool,
    no_deps: bool,
    dry_run: bool,
) -> None:
    r"""Install packs and what they require, all or none. A running host that serves the root has them at once.

    A folder or archive is written as a path (./my-pack); a bare name is asked for on the index.

    \b
    Examples:
      market install my-pack
      market install 'my-pack>=1,<2' @acme/other@2.0
      market install ./my-pack my-pack-1.0.0.zip --root /srv/skills
    """
    if (name or version) and len(targets) > 1:
        raise InvalidInput("--name and --version can't hold for several packs", hint="install them one by one")
    given = parse_given(name, version)
    into = writable_root(market, root, output, create=not dry_run)
    indexes = open_indexes(market, index=index, token=token)
    permit = Permit(dry_run, force, accept_publisher)
    try:
        done = carry_out(
            market,
            output,
            into,
            indexes,
            lambda stack: read_order(stack, targets, given, follow=not no_deps),
            Policy(),
            permit,
        )
    except MarketError as error:
        raise add_folder_hint(error, targets) from None
    output.done(done.document, done.lines)
