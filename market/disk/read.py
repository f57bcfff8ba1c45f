"""Reading a file below a directory without ever leaving it: no link is followed, neither at the end nor on the way."""

from __future__ import annotations

import os
import stat

from market.disk.failures import disk_failures
from market.errors import InvalidInput, Refused

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def read_within(directory: int, relative: str, limit_bytes: int) -> bytes:
    """Return the bytes of the regular file at a relative POSIX path below an open directory.

    Raises `Refused` for a path that leaves the directory, a link and anything that isn't a regular file, `NotFound` where
    nothing is there, and `InvalidInput` for a file larger than the limit.
    """
    descriptor = open_within(directory, relative)
    try:
        with disk_failures("read", relative):
            data = read_descriptor(descriptor, limit_bytes + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit_bytes:
        raise InvalidInput(f"{relative} is larger than {limit_bytes} bytes", hint="make it smaller")
    return data


def open_within(directory: int, relative: str) -> int:
    """Open a regular file below an open directory, following no link; the caller closes the descriptor."""
    parts = relative.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise _leaves(relative, "the path is not a plain relative path")
    with disk_failures("open", relative):
        descriptor = _open_below(directory, parts, relative)
    # Nothing but regular files: a fifo would block its reader for ever, a device is not content.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _leaves(relative, "it is not a regular file")
    return descriptor


def read_descriptor(descriptor: int, limit_bytes: int) -> bytes:
    """Read from a descriptor until its end or the limit."""
    pieces, rest = [], limit_bytes
    while rest > 0 and (piece := os.read(descriptor, min(rest, 1 << 20))):
        pieces.append(piece)
        rest -= len(piece)
    return b"".join(pieces)


def _open_below(directory: int, parts: list[str], relative: str) -> int:
    current = directory
    try:
        for part in parts[:-1]:
            inner = _open_step(part, _DIRECTORY, current, relative)
            if current != directory:
                os.close(current)
            current = inner
        return _open_step(parts[-1], _FILE, current, relative)
    finally:
        if current != directory:
            os.close(current)


def _open_step(part: str, flags: int, directory: int, relative: str) -> int:
    try:
        return os.open(part, flags, dir_fd=directory)
    except OSError:
        if _is_link(part, directory):
            raise _leaves(relative, f"{part!r} is a symbolic link") from None
        raise


def _is_link(name: str, directory: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _leaves(relative: str, why: str) -> Refused:
    return Refused(
        f"{relative!r} is not read", why=why, hint="use a regular file below the folder", details={"path": relative}
    )
