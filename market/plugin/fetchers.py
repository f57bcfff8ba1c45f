"""Where packs can be fetched from by an address, as the plugins offer it, and what a crash of one is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from market.errors import PluginError
from market.plugin.calls import note_failed_call
from market.plugin.edge import Crashed, broken, call_outspoken
from market.plugin.functions import check_method
from market.plugin.prints import diverted_prints
from market.plugin.values import Unfit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.hookspecs import Fetcher
    from market.plugin.checks import Implementation

ARGUMENTS = ("address", "out", "limit_bytes")

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")


@dataclass(frozen=True, slots=True)
class PluggedFetcher:
    """The fetcher of a plugin: a crash is a `PluginError` that names it and the address: the plugin may well be good."""

    plugin: str
    fetcher: Fetcher

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        """Write the archive; see `market.hookspecs.Fetcher`."""
        try:
            with diverted_prints():
                call_outspoken(self.fetcher.fetch, address, out, limit_bytes)
        except (Crashed, Unfit) as error:
            raise self._fail(address, f"crashed: {error}", error.__cause__) from error
        if out.closed:
            raise self._fail(address, "closed the file that it was to fill")

    def _fail(self, address: str, what: str, cause: BaseException | None = None) -> PluginError:
        error = PluginError(
            f"{address[:200]} can't be fetched",
            why=f"the plugin {self.plugin} {what}",
            hint="ask the plugin's author; or get the file in another way, and install that",
            details={"plugin": self.plugin, "address": address},
        )
        note_failed_call(f"{error.message}: {error.why}", cause)
        return error


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
        try:
            check_method(fetcher, "fetch", ARGUMENTS)
        except Unfit as unfit:
            raise broken(one.plugin, f"{one.hook} gave as the fetcher of {scheme} {unfit}") from None
    return offered
