"""The part of the client's composition root that needs the network: clients of indexes and of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.client.cache import ArchiveCache
from market.client.host_client import HostClient
from market.client.index_client import IndexClient
from market.client.indexes import Indexes
from market.client.running_hosts import load_admin_token, load_running_hosts
from market.client.transport import Dated, RequestsTransport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from market.cli.market import Market
    from market.client.settings import IndexChoice
    from market.client.transport import Transport
    from market.installer.receipt import Receipt


def open_transport(market: Market, kind: str = "index") -> Transport:
    """Return the connection to servers; `kind` is the word for them in messages."""
    return market.index_transport or RequestsTransport(kind, environ=market.environ)


def open_index(market: Market, choice: IndexChoice) -> IndexClient:
    """Return a client of the chosen index."""
    cache = ArchiveCache(market.home.archives)
    return IndexClient(open_transport(market), choice.url, choice.token, cache=cache, observe=market.observe)


def read_clock(market: Market, url: str) -> datetime | None:
    """Return the time that the index at a URL has, or None where it doesn't say."""
    transport = open_transport(market)
    return transport.read_clock(f"{url}/v1/packs?limit=1") if isinstance(transport, Dated) else None


def open_indexes(market: Market, *, index: str = "", token: str = "") -> Indexes:
    """Return the configured indexes, or the one that is named, as one source of packs."""
    return Indexes(
        lambda name: market.settings.indexes_for(name, index, token), lambda choice: open_index(market, choice)
    )


def open_indexes_of(market: Market, receipts: Mapping[str, Receipt], *, index: str = "", token: str = "") -> Indexes:
    """Return for each installed pack the index that it came from, unless a pattern keeps its name elsewhere by now.

    A pack that is new is looked for as by `open_indexes`.
    """
    settings = market.settings

    def choose(name: str) -> Sequence[IndexChoice]:
        origin = receipts[name].origin if name in receipts else None
        is_kept = any(choice.keeps(name) for choice in settings.indexes)
        if index or token or is_kept or origin is None or origin.kind != "index":
            return settings.indexes_for(name, index, token)
        return (settings.index_at(origin.index),)

    return Indexes(choose, lambda choice: open_index(market, choice))


def open_host(market: Market, url: str = "", token: str = "") -> HostClient:
    """Return a client of a host: the URL given, the environment's, or the one that runs for this user, or the default."""
    if not url and not market.environ.get("MARKET_HOST_URL"):
        running = load_running_hosts(market.home)
        url = running[-1].url if running else ""
    url = market.settings.host_url(url)
    token = market.settings.host_token(url, token) or load_admin_token(market.home, url)
    return HostClient(market.host_transport or RequestsTransport("host", environ=market.environ), url, token)
