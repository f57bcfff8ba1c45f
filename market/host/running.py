"""Leaves `hosts/PID.json` in MARKET_HOME while a host runs, so that this user's commands find it (`market.client.running_hosts`)."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.home import make_private_directory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from market.disk.home import Home


@dataclass(frozen=True, slots=True)
class Announcement:
    """The file of this process."""

    path: Path

    def write(self, url: str, roots: Sequence[str]) -> None:
        """Say where this host is and which roots it serves."""
        with disk_failures("write", self.path):
            write_atomic(self.path, json.dumps({"pid": os.getpid(), "url": url, "roots": list(roots)}).encode(), 0o600)


@contextmanager
def announce(home: Home) -> Iterator[Announcement]:
    """Give the announcement of this process, and remove its file at the end of the block."""
    make_private_directory(home.running_hosts)
    _sweep(home.running_hosts)
    announcement = Announcement(home.running_hosts / f"{os.getpid()}.json")
    try:
        yield announcement
    finally:
        announcement.path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what hosts that were killed left behind, before their process ids are given to others."""
    for path in folder.glob("*.json"):
        try:
            os.kill(int(path.stem), 0)
        except (ProcessLookupError, ValueError, OverflowError):
            path.unlink(missing_ok=True)
        except PermissionError:
            continue
