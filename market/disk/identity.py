"""Which directory this is, whatever its name: device and inode."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Identity:
    """One file or directory of this machine. A directory keeps it through renames; a copy has another one."""

    device: int
    inode: int


def identity_of(descriptor: int) -> Identity:
    """Return the identity of what an open descriptor refers to."""
    status = os.fstat(descriptor)
    return Identity(status.st_dev, status.st_ino)


def identity_at(path: Path) -> Identity | None:
    """Return the identity of what stands at a path (a link is itself, not its target), or None where nothing does."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return Identity(status.st_dev, status.st_ino)
