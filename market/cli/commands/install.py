"""`market install`: install packs from an index, a folder or an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.arriving import fetch_arrival
from market.cli.command import command, dry_run_option, given_options, index_options
from market.cli.installing import install_arrivals
from market.cli.roots import one_root_option, writable_root
from market.errors import InvalidInput

if TYPE_CHECKING:
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.transaction import Arrival


@command("install")
@click.argument("targets", nargs=-1, required=True, metavar="REQUIREMENT|FOLDER|ARCHIVE...")
@one_root_option
@given_options
@index_options
@click.option("--force", is_flag=True, help="Replace a pack that was edited; the edited files are kept as a backup.")
@click.option("--accept-publisher", is_flag=True, help="Accept that the pack now comes from another publisher.")
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
    dry_run: bool,
) -> None:
    r"""Install packs, all or none. A running host that serves the root has them at once.

    A folder or archive is written as a path (./my-pack); a bare name is asked for on the index.

    \b
    Examples:
      market install my-pack
      market install 'my-pack>=1,<2' @acme/other@2.0
      market install ./my-pack my-pack-1.0.0.zip --root /srv/skills
    """
    if (name or version) and len(targets) > 1:
        raise InvalidInput("--name and --version can't hold for several packs", hint="install them one by one")

    def fetch(stack: ExitStack) -> list[Arrival]:
        with output.progress("fetching"):
            return [
                fetch_arrival(market, stack, target, name=name, version=version, index=index, token=token)
                for target in targets
            ]

    into = writable_root(market, root, output, create=not dry_run)
    done = install_arrivals(
        market, output, into, fetch, dry_run=dry_run, force=force, accept_publisher=accept_publisher
    )
    output.done(done.document, done.lines)
