"""Archives at web addresses, as one source to install from beside the indexes. Whether they are good is checked where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from market.hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.client.transport import Transport
    from market.hookspecs import Fetcher


class WebArchives:
    """Fetches by HTTP. No token is sent: an address isn't an index that this user has logged in to."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        """Write what stands at a web address; see `market.hookspecs.Fetcher`."""
        self._transport.download(address, "", out, limit_bytes)


class OwnFetchers:
    """Market's own fetchers, as a plugin."""

    def __init__(self, transport: Transport) -> None:
        self._archives = WebArchives(transport)

    @hookimpl
    def register_fetchers(self) -> Mapping[str, Fetcher]:
        """Fetch from the web."""
        return {"https": self._archives, "http": self._archives}


def own_fetching(transport: Transport) -> dict[str, object]:
    """Return Market's own implementations by name, for `load_plugins`."""
    return {"market-fetchers": OwnFetchers(transport)}
