"""`market whoami`: whose token an index sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.command import command, index_options
from market.cli.network import open_index
from market.client.problems import LOGIN_HINT
from market.client.wire import dump_document
from market.errors import Unauthenticated

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.cli.output import Output


@command("whoami")
@index_options
def whoami(market: Market, output: Output, index: str, token: str) -> None:
    r"""Show whose token is used for an index, and what it may do.

    \b
    Examples:
      market whoami
      market whoami --index https://market.example --json
    """
    client = open_index(market, market.settings.index(index, token))
    if not client.has_token:
        raise Unauthenticated(f"there is no token for {client.url}", hint=LOGIN_HINT)
    who = client.whoami()
    until = f", until {who.expires_at}" if who.expires_at else ""
    line = (
        f"{who.publisher} on {client.url} (token {who.token_prefix}..., may {', '.join(who.scopes) or 'read'}{until})"
    )
    output.answer({"index": client.url, **dump_document(who)}, [line])
