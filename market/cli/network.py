"""The part of the client's composition root that needs the network: clients of indexes and of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.client.cache import ArchiveCache
from market.client.host_client import HostClient
from market.client.index_client import IndexClient
from market.client.running_hosts import load_admin_token, load_running_hosts
from market.client.transport import RequestsTransport
from market.errors import NotFound

if TYPE_CHECKING:
    from market.cli.market import Market
    from market.client.settings import IndexChoice
    from market.client.wire import PackDocument


def open_index(market: Market, choice: IndexChoice) -> IndexClient:
    """Return a client of the chosen index."""
    transport = market.index_transport or RequestsTransport("index", environ=market.environ)
    return IndexClient(transport, choice.url, choice.token, cache=ArchiveCache(market.home.archives))


def find_pack(market: Market, name: str, *, index: str = "", token: str = "") -> tuple[IndexClient, PackDocument]:
    """Return the first of the configured indexes that knows a pack, with its document. Any other answer than 404 stops the search."""
    choices = market.settings.indexes_for(name, index, token)
    for choice in choices[:-1]:
        client = open_index(market, choice)
        try:
            return client, client.pack(name)
        except NotFound:
            continue
    client = open_index(market, choices[-1])
    return client, client.pack(name)


def open_host(market: Market, url: str = "", token: str = "") -> HostClient:
    """Return a client of a host: the URL given, the environment's, or the one that runs for this user, or the default."""
    if not url and not market.environ.get("MARKET_HOST_URL"):
        running = load_running_hosts(market.home)
        url = running[-1].url if running else ""
    url = market.settings.host_url(url)
    token = market.settings.host_token(url, token) or load_admin_token(market.home, url)
    return HostClient(market.host_transport or RequestsTransport("host", environ=market.environ), url, token)
