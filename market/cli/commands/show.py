"""`market show`: one pack of an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, index_options
from market.cli.network import open_indexes
from market.cli.packs import pack_lines
from market.client.wire import dump_document
from market.names import parse_requirement
from market.resolve.choose import choose_release

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("show")
@click.argument("requirement")
@index_options
def show(market: Market, output: Output, requirement: str, index: str, token: str) -> None:
    r"""Show a pack: its newest release, or the one asked for, with its skills and all releases.

    \b
    Examples:
      market show my-pack
      market show my-pack@1.0.0 --json
    """
    wanted = parse_requirement(requirement)
    indexes = open_indexes(market, index=index, token=token)
    found = indexes.find(wanted.name)
    client, document = found.client, found.document
    release = indexes.release(document.name, choose_release(wanted, document).version)
    shown = {
        "index": client.url,
        "page": f"{client.url}/packs/{document.name}",
        "pack": dump_document(document),
        "release": dump_document(release),
    }
    output.answer(shown, pack_lines(document, release, client.url))
