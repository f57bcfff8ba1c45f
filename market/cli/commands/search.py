"""`market search`: find packs on an index by words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command, index_options
from market.cli.network import open_index
from market.cli.packs import pack_list_document, pack_list_lines
from market.cli.text import count_text, printable

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.wire import PackList


@command("search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many packs to show.")
@index_options
def search(market: Market, output: Output, words: tuple[str, ...], limit: int, index: str, token: str) -> None:
    r"""Search an index. A pack of exactly that name comes first.

    \b
    Examples:
      market search disk
      market search "clean up" --limit 5 --json
    """
    client = open_index(market, market.settings.index(index, token))
    query = " ".join(words)
    found = client.search(query, limit)
    document = {"query": query, **pack_list_document(found, client.url), "packs": found.packs, "near": found.near}
    output.answer(document, pack_list_lines(found, client.url, _nothing(found, client.url, query)))


def _nothing(found: PackList, url: str, query: str) -> str:
    # An older index says neither.
    packs = f"; it has {count_text(found.packs, 'pack')}" if found.packs is not None else ""
    near = f"; did you mean {' or '.join(map(printable, found.near))}?" if found.near else ""
    return f"nothing on {url} matches {query!r}{packs}{near}"
