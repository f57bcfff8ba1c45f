"""Keeping the content of an open file under a new name: as another link to it where that is possible, else as a copy."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from market.disk.atomic import write_fully

if TYPE_CHECKING:
    from pathlib import Path

COPY_CHUNK_BYTES = 1 << 20
KEPT_MODE = 0o600
OPEN_FILES = "/proc/self/fd"


def keep_copy(stream: BinaryIO, path: Path) -> None:
    """Copy a seekable stream, from its start, into a file that must not exist yet. Raises OSError; then it may be half written."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, KEPT_MODE)
    try:
        stream.seek(0)
        while chunk := stream.read(COPY_CHUNK_BYTES):
            write_fully(descriptor, chunk)
    finally:
        os.close(descriptor)


def keep_link(stream: BinaryIO, path: Path) -> bool:
    """Give the open file another name, and answer whether that was possible: not on another disk, nor for a file without a name.

    For files that nobody changes in place: a later change would be seen under both names.
    """
    try:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            return False
        descriptors = os.open(OPEN_FILES, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Through the descriptor: the file that was checked is linked, whatever stands under its old name by now. Only with a
        # directory descriptor does Python use linkat, which follows the link that an entry of this folder is.
        os.link(str(stream.fileno()), path, src_dir_fd=descriptors, follow_symlinks=True)
    except OSError:
        return False
    finally:
        os.close(descriptors)
    return True
