"""Which skills are switched off, read again only when the root's file changed: a look costs one stat, whatever the root holds."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from market.installer.disabled import Disabled, load_disabled
from market.installer.root import Root
from market.registry.tree_marks import mark_file

if TYPE_CHECKING:
    from market.registry.unit import StatMark, UnitId


class Switches:
    """What is switched off in some roots, remembered by the mark of each root's file."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[StatMark, Disabled]] = {}
        self._lock = threading.Lock()

    def find(self, unit: UnitId) -> Disabled:
        """Return what is off in a unit's root now; raises `Untrusted` where the file can't be read."""
        root = Root(Path(unit.root))
        mark = mark_file(str(root.disabled))
        with self._lock:
            known = self._known.get(unit.root)
        if known is None or known[0] != mark:
            known = mark, load_disabled(root)
            with self._lock:
                self._known[unit.root] = known
        return known[1]
