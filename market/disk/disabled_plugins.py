"""Which plugins this user has switched off: a JSON file in MARKET_HOME, read by every program when it starts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.home import make_private_directory
from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_STATE_BYTES = 64 * 1024


def load_disabled(path: Path) -> frozenset[str]:
    """Return the names of the disabled plugins; none where there is no file.

    Raises `InvalidInput` for a file that can't be read: a plugin that was switched off must not come back by itself.
    """
    with disk_failures("read", path):
        try:
            with path.open("rb") as stream:
                content = stream.read(MAX_STATE_BYTES)
        except FileNotFoundError:
            return frozenset()
    try:
        match json.loads(content):
            case {"disabled": [*names]} if all(isinstance(name, str) for name in names):
                return frozenset(names)
    except ValueError:
        pass
    raise InvalidInput(
        f"{path} can't be read",
        why='it should be {"disabled": ["name"]}',
        hint="delete it, then `market plugins disable NAME` again what shall be off",
    )


def save_disabled(path: Path, names: Iterable[str]) -> None:
    """Store the names of the disabled plugins."""
    make_private_directory(path.parent)
    with disk_failures("write", path):
        write_atomic(path, json.dumps({"disabled": sorted(names)}, indent=2).encode() + b"\n", 0o644)
