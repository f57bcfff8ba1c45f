"""Telling the hosts that serve a root that what is known of a pack changed, though its tree didn't.

Their watch of the root is flat: it sees a new time of a directory right below it, and reads that one pack again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from market.installer.root import Root


def nudge_unit(root: Root, name: str) -> None:
    """Give a pack's directory a new time; with an empty name the root's own, and its state's, which is what a watch of it sees.

    Where that fails, the hosts' slow rescan finds out.
    """
    for path in (root.tree(name),) if name else (root.path, root.state):
        with suppress(OSError):
            os.utime(path)
