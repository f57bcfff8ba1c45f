"""What `market outdated` saw last: the newest releases by index, so that `market list` says `behind` without any network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.resolve.choose import try_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.disk.home import Home
    from market.installer.receipt import Receipt
    from market.names import Version

Newest = dict[str, dict[str, str]]
"""Versions by pack by the index's URL."""


def load_newest(home: Home) -> Newest:
    """Return what is remembered; nothing where the file is missing or spoilt, since it is only a memory."""
    try:
        values = json.loads(home.newest.read_bytes())
        return {str(url): {str(name): str(version) for name, version in packs.items()} for url, packs in values.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def save_newest(home: Home, seen: Mapping[str, Mapping[str, str]]) -> None:
    """Add what was seen now to what is remembered."""
    known = load_newest(home)
    for url, packs in seen.items():
        known[url] = {**known.get(url, {}), **packs}
    with disk_failures("write", home.newest):
        home.newest.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(home.newest, json.dumps(known, indent=1).encode() + b"\n")


def find_newer(newest: Newest, receipt: Receipt) -> Version | None:
    """Return a remembered release that is newer than the installed one."""
    version = try_version(newest.get(receipt.origin.index, {}).get(receipt.pack_name, ""))
    return version if version is not None and version > receipt.version else None
