"""Hold the tree of a pack while a call runs in it, so that it is neither mixed with another version nor deleted."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from market.run.executor import Replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.registry.live import LiveSkill


@contextmanager
def lease_unit(target: LiveSkill) -> Iterator[int]:
    """Open the pack's directory with a shared lock on it; raises Replaced if another one stands there now.

    The lock comes first and the comparison second: a tree that is still in place once it is locked can't be swept away
    before the lock is gone, however soon it is replaced.
    """
    try:
        descriptor = os.open(target.unit, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise _replaced(target, os.strerror(error.errno or 0)) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            # Whoever holds it exclusively is about to delete it.
            raise _replaced(target, "its tree is being removed") from error
        _check_identity(target, os.fstat(descriptor))
        _check_identity(target, _stat_in_place(target))
        yield descriptor
    finally:
        os.close(descriptor)


def _stat_in_place(target: LiveSkill) -> os.stat_result:
    try:
        return Path(target.unit).stat()
    except OSError as error:
        raise _replaced(target, os.strerror(error.errno or 0)) from error


def _check_identity(target: LiveSkill, status: os.stat_result) -> None:
    if (status.st_dev, status.st_ino) != (target.device, target.inode):
        raise _replaced(target, "another directory stands in its place")


def _replaced(target: LiveSkill, why: str) -> Replaced:
    return Replaced(
        f"the pack {target.pack} at {target.unit} was replaced or removed since it was found",
        why=why,
        hint="try again: the registry catches up within moments",
    )
