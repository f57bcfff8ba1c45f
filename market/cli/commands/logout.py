"""`market logout`: forget an index's token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.client.remember import forget_token

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("logout")
@click.argument("index", default="", metavar="[URL|NAME]")
def logout(market: Market, output: Output, index: str) -> None:
    r"""Forget the stored token of an index. The token itself stays valid until it is revoked there.

    \b
    Examples:
      market logout
      market logout https://market.example
    """
    url = market.settings.index(index).url
    had = forget_token(market.home, url)
    output.done(
        {"index": url, "forgotten": had}, [f"forgot the token for {url}" if had else f"no token was stored for {url}"]
    )
