"""Putting right what `doctor.py` found and what is safe: nobody's work is touched, no pack changes."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.installer.archives import find_spoilt, find_unnamed
from market.installer.doctor import PRIVATE_MODE, find_strays

if TYPE_CHECKING:
    from market.installer.root import Root
    from market.installer.transaction import LockedRoot


def repair_modes(root: Root) -> None:
    """Take away the others' right to write into the root, and make its state private. Before the lock, which needs the state."""
    with disk_failures("correct the permissions of", root.path):
        mode = root.path.stat().st_mode
        if mode & stat.S_IWOTH and root.path.stat().st_uid == os.geteuid():
            root.path.chmod(stat.S_IMODE(mode) & ~stat.S_IWOTH)
        if root.state.is_dir() and not root.state.is_symlink() and root.state.stat().st_uid == os.geteuid():
            root.state.chmod(PRIVATE_MODE)


def clear_leftovers(locked: LockedRoot) -> None:
    """Delete half-written files and archives that nobody needs or can use. Taking the lock has settled and swept the rest."""
    locked.check_held()
    root = locked.root
    for path in dict.fromkeys((*find_strays(root), *find_unnamed(root), *find_spoilt(root))):
        with disk_failures("delete", path):
            path.unlink()
