"""Which hosts run on this machine for this user: each leaves `hosts/PID.json` in MARKET_HOME while it lives."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.client.limits import MAX_CONFIG_BYTES
from market.client.origins import origin_of, parse_server_url
from market.errors import InvalidInput

if TYPE_CHECKING:
    from market.disk.home import Home


@dataclass(frozen=True, slots=True)
class RunningHost:
    """A host's process, URL and roots, as it wrote them."""

    pid: int
    url: str
    roots: tuple[str, ...]

    def find_root(self, path: Path) -> str:
        """Return the host's own name of a directory that is one of its roots, links followed; empty where it is none."""
        return next((own for own in self.roots if Path(own).resolve() == path.resolve()), "")


def load_running_hosts(home: Home) -> tuple[RunningHost, ...]:
    """Return the hosts that run, by process id. Files of dead processes and unreadable ones don't count."""
    try:
        paths = sorted(home.running_hosts.glob("*.json"))
    except OSError:
        return ()
    found = (_load(path) for path in paths)
    return tuple(host for host in found if host is not None and _is_alive(host.pid))


def find_stale_records(home: Home) -> tuple[Path, ...]:
    """Return the files of hosts that no longer run, and those that can't be read."""
    paths = sorted(home.running_hosts.glob("*.json"))
    return tuple(path for path in paths if (host := _load(path)) is None or not _is_alive(host.pid))


def load_admin_token(home: Home, url: str) -> str:
    """Return the token of this user's own host, or empty where `url` isn't one that runs now: a foreign server mustn't get it."""
    if not any(origin_of(host.url) == origin_of(url) for host in load_running_hosts(home)):
        return ""
    try:
        return home.host_admin_token.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _load(path: Path) -> RunningHost | None:
    try:
        with path.open("rb") as stream:
            values = json.loads(stream.read(MAX_CONFIG_BYTES))
        match values:
            case {"pid": int(pid), "url": str(url), "roots": [*roots]}:
                return RunningHost(pid, parse_server_url(url), tuple(str(root) for root in roots))
    except (OSError, ValueError, InvalidInput):
        return None
    return None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return pid > 0
