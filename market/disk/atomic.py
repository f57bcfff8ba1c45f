"""Writing a file so that readers see the old or the new content and a crash leaves one of them."""

from __future__ import annotations

import ctypes
import os
import secrets
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file's content durably: temporary file beside it, fsync, rename, fsync of the folder. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_new(temporary, data, mode, durable=True)
        os.replace(temporary, path)  # noqa: PTH105 - the disk room calls os by name, so that a test can fail every call
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        raise
    fsync_directory(path.parent)


def write_new(path: Path, data: bytes, mode: int = 0o644, *, durable: bool = False) -> None:
    """Write a file that must not exist yet; `durable` fsyncs it. A failure may leave it half written. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        write_fully(descriptor, data)
        os.fchmod(descriptor, mode)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_fully(descriptor: int, data: bytes) -> None:
    """Write all bytes, however short the single writes are."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def fsync_directory(path: Path) -> None:
    """Make the names in a directory durable: what was renamed into or out of it stays so after power loss."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_file_system(descriptor: int) -> None:
    """Make everything written to the descriptor's file system durable, in one call (4x cheaper than fsync of each file).

    Raises OSError where writing back failed since the last call; what was written must then be thrown away, not synced again.
    """
    syncfs = _find_syncfs()
    if syncfs is None:
        os.sync()
    elif syncfs(descriptor) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@cache
def _find_syncfs() -> ctypes._NamedFuncPointer | None:
    return getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
