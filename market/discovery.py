"""Which plugins are installed beside Market. What is in them isn't looked at here; that is `market.plugins`.

`importlib.metadata` costs 20 to 60 ms, most of it its own import, and most machines have no plugin: so the entry-point files are
searched for the group's name first (about 1 ms), and the library is loaded only where one has it.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.hookspecs import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable

_METADATA_SUFFIXES = (".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """One entry point of the group: its name, the distribution that brings it, and how to load what it names (`target`)."""

    name: str
    distribution: str
    version: str
    load: Callable[[], object]
    target: str = ""


def find_entries(group: str = GROUP) -> tuple[PluginEntry, ...]:
    """Return the entry points of a group in this environment, in the order of their names. Nothing of them is imported."""
    section = re.compile(rb"^\s*\[" + re.escape(group).encode() + rb"\]\s*$", re.MULTILINE)
    if not any(_may_have_plugins(path, section) for path in sys.path):
        return ()
    # By name, since only a machine with plugins shall pay for it.
    metadata = importlib.import_module("importlib.metadata")
    entries = (
        PluginEntry(
            one.name, one.dist.name if one.dist else "", one.dist.version if one.dist else "", one.load, one.value
        )
        for one in metadata.entry_points(group=group)
    )
    return tuple(sorted(entries, key=lambda entry: (entry.name, entry.distribution)))


def _may_have_plugins(path: str, section: re.Pattern[bytes]) -> bool:
    folder = Path(path or os.curdir)
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if entry.name.endswith(_METADATA_SUFFIXES)]
    except NotADirectoryError:
        return True  # an archive on the path: only the library can look into it
    except OSError:
        return False
    return any(_declares_group(Path(one, "entry_points.txt"), section) for one in found)


def _declares_group(file: Path, section: re.Pattern[bytes]) -> bool:
    try:
        return section.search(file.read_bytes()) is not None
    except OSError:
        return False
