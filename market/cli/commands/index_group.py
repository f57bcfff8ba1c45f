"""`market index`: the index's own commands, loaded by name; `serve` stores its URL and token for this user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.market import open_market
from market.cli.servers import load_server
from market.client.remember import remember_index

if TYPE_CHECKING:
    import click

OWN_INDEX = "local"


def index_group() -> click.Command:
    """Make the group."""
    made: click.Command = load_server("index.cli", "index").index_group(_remember)
    return made


def _remember(url: str, token: str) -> None:
    remember_index(open_market().home, url, token, name=OWN_INDEX)
