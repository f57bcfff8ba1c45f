"""The client's composition root: one value that holds where this user's things are and how servers are reached.

What needs the network is in `market.cli.network`, so that commands without it never load an HTTP library.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from market.client.settings import load_settings
from market.disk.home import load_home

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.client.settings import Settings
    from market.client.transport import Transport
    from market.disk.home import Home
    from market.plugins.find import PluginEntry


@dataclass(frozen=True)
class Market:
    """This user's home and environment.

    Transports are None outside tests: then `market.cli.network` opens real ones. So are the plugins: then those are found that are
    installed beside Market.
    """

    home: Home
    environ: Mapping[str, str]
    index_transport: Transport | None = None
    host_transport: Transport | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    observe: Callable[[str, int, int], None] | None = None
    started: float = field(default_factory=time.monotonic)
    plugin_entries: tuple[PluginEntry, ...] | None = None

    @cached_property
    def settings(self) -> Settings:
        """Files and environment, read on first use."""
        return load_settings(self.home.config, self.home.credentials, self.environ)


def open_market(environ: Mapping[str, str] = os.environ) -> Market:
    """Return the market of the environment's user. Nothing is created on disk."""
    return Market(load_home(environ), environ, started=process_start())


def process_start() -> float:
    """Return when this process began, on the monotonic clock; what the interpreter did before counts, since people wait for it."""
    try:
        ticks = int(
            Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[19]
        )
        return time.monotonic() - max(time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK"), 0.0)
    except (OSError, ValueError, IndexError):
        return time.monotonic()
