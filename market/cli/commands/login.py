"""`market login`: check a token and store it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from market.cli.command import command
from market.cli.network import open_index
from market.client.remember import remember_index
from market.client.wire import dump_document
from market.errors import InvalidInput

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output

MAX_TOKEN_CHARACTERS = 1024


@command("login")
@click.argument("index", default="", metavar="[URL|NAME]")
@click.option(
    "--token",
    default="",
    metavar="TOKEN",
    help="The token; '-' reads it from stdin. Without it you are asked on a terminal.",
)
def login(market: Market, output: Output, index: str, token: str) -> None:
    r"""Store a token for an index, after the index has accepted it.

    \b
    Examples:
      market login https://market.example
      market login https://market.example --token - < token.txt
    """
    choice = market.settings.index(index, _read_token(token))
    client = open_index(market, choice)
    who = client.whoami()
    remember_index(market.home, client.url, choice.token)
    output.done({"index": client.url, **dump_document(who)}, [f"logged in to {client.url} as {who.publisher}"])


def _read_token(token: str) -> str:
    """Return the token given, read, or asked for; never wait for an answer where nobody sits."""
    if token == "-":
        token = sys.stdin.readline(MAX_TOKEN_CHARACTERS).strip()
    elif not token and sys.stdin.isatty():
        token = str(click.prompt("token", hide_input=True, err=True)).strip()
    if not token:
        raise InvalidInput(
            "a token is needed, and there is no terminal to ask on",
            hint="give --token TOKEN, or --token - and the token on stdin",
        )
    return token
