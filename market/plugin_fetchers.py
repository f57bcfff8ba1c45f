"""Where packs can be fetched from by an address, as the plugins offer it, and what a crash of one is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from market.errors import MarketError
from market.plugin_checks import broken, describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.hookspecs import Fetcher
    from market.plugin_checks import Implementation

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


@dataclass(frozen=True, slots=True)
class PluggedFetcher:
    """The fetcher of a plugin: a crash is a `PluginError` that names it."""

    plugin: str
    fetcher: Fetcher

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        """Write the archive; see `market.hookspecs.Fetcher`."""
        try:
            self.fetcher.fetch(address, out, limit_bytes)
        except MarketError:
            raise
        except (Exception, SystemExit) as error:
            raise broken(self.plugin, f"it crashed when it fetched {address[:200]}: {describe(error)}") from error


def check_fetchers(one: Implementation, answer: Any) -> Mapping[str, Fetcher]:
    """Return what a plugin offers to fetch from; raises `PluginError` for what is no fetcher."""
    if answer is None:
        return {}
    try:
        offered: dict[str, Fetcher] = dict(answer.items())
    except (AttributeError, TypeError, ValueError):
        raise broken(one.plugin, f"{one.hook} gave no mapping from schemes to fetchers") from None
    for scheme, fetcher in offered.items():
        if not isinstance(scheme, str) or not _SCHEME.fullmatch(scheme):
            raise broken(one.plugin, f"{one.hook} gave {scheme!r} in place of a scheme, for example 'git+https'")
        if not callable(getattr(fetcher, "fetch", None)):
            raise broken(one.plugin, f"{one.hook} gave {type(fetcher).__name__} in place of a fetcher of {scheme}")
    return offered
