"""`market browse`: list an index's packs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, index_options
from market.cli.network import open_index
from market.cli.packs import pack_list_document, pack_list_lines

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("browse")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many packs to show.")
@index_options
def browse(market: Market, output: Output, limit: int, index: str, token: str) -> None:
    r"""List an index's packs, and print the address of its page.

    \b
    Examples:
      market browse
      market browse --index https://market.example --json
    """
    client = open_index(market, market.settings.index(index, token))
    found = client.packs(limit)
    lines = [*pack_list_lines(found, client.url, f"{client.url} has no packs yet"), f"pages: {client.url}/"]
    output.answer({**pack_list_document(found, client.url), "page": f"{client.url}/"}, lines)
