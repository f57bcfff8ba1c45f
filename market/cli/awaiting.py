"""After something was switched that no version shows: wait until the hosts that serve the root say the same, and put it into words."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.client.limits import LIVE_POLL_SECONDS, LIVE_TIMEOUT_SECONDS
from market.client.running_hosts import load_running_hosts
from market.errors import MarketError

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.market import Market
    from market.client.host_wire import SkillView
    from market.installer.root import Root


@dataclass(frozen=True, slots=True)
class Followed:
    """How one host followed. `trouble` is why it couldn't be asked."""

    url: str
    reached: bool
    milliseconds: float
    trouble: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The value as `--json` prints it."""
        milliseconds = round(self.milliseconds, 1)
        return {"url": self.url, "reached": self.reached, "milliseconds": milliseconds, "trouble": self.trouble}

    @property
    def line(self) -> str:
        """The value as a sentence."""
        if self.trouble:
            return f"the host at {self.url} can't be asked: {self.trouble}"
        if not self.reached:
            return f"the host at {self.url} does not follow after {self.milliseconds / 1000:.0f} s; its log says why"
        return f"so it is in {self.milliseconds:.0f} ms at {self.url}"


def await_skills(
    market: Market, root: Root, pack: str, is_reached: Callable[[list[SkillView]], bool]
) -> tuple[Followed, ...]:
    """Ask every running host of this root for a pack's skills until they are as wanted, or time runs out."""
    served = [(host.url, host.find_root(root.path)) for host in load_running_hosts(market.home)]
    return tuple(_follow(market, url, name, pack, is_reached) for url, name in served if name)


def _follow(market: Market, url: str, root: str, pack: str, is_reached: Callable[[list[SkillView]], bool]) -> Followed:
    start = time.monotonic()
    try:
        # Only now: without a host there is no need for an HTTP library.
        client = importlib.import_module("market.cli.network").open_host(market, url)
        while True:
            reached = is_reached([one for one in client.skills(pack) if one.root == root])
            elapsed = time.monotonic() - start
            if reached or elapsed > LIVE_TIMEOUT_SECONDS:
                return Followed(url, reached, elapsed * 1000)
            time.sleep(LIVE_POLL_SECONDS)
    except MarketError as error:
        return Followed(url, False, (time.monotonic() - start) * 1000, error.message)
