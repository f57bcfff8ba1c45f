"""Leases on directories: a reader's shared flock keeps a replaced tree on the disk until the reader is done."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.identity import identity_at, identity_of
from market.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

# Each failed attempt means that an upgrade came between opening and locking; so many in a row don't happen.
MAX_LEASE_ATTEMPTS = 100


def lease_directory(path: Path) -> int:
    """Open the directory that stands at a path and take a shared flock on it; the caller closes the descriptor.

    The tree behind the descriptor stays whole until then, also when another one takes its name. Raises `NotFound` where there
    is no directory.
    """
    with disk_failures("open", path):
        for _ in range(MAX_LEASE_ATTEMPTS):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            if _take_lease(descriptor, path):
                return descriptor
            os.close(descriptor)
    raise Unavailable(
        f"can't take a lease on {path}", why="it is replaced faster than it can be opened", hint="try again"
    )


def is_leased(path: Path) -> bool:
    """Answer whether somebody holds a lease on a directory; False where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        return not claim_directory(descriptor)
    finally:
        os.close(descriptor)


def claim_directory(descriptor: int) -> bool:
    """Take the exclusive flock on an open directory, if nobody leases it; held until the descriptor is closed."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take_lease(descriptor: int, path: Path) -> bool:
    try:
        # Not waiting: who holds it exclusively is deleting this tree, and another one already has its name.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return identity_of(descriptor) == identity_at(path)
