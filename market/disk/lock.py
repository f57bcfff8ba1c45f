"""One writer at a time: a file that is locked with flock while it is open. The kernel frees it when the holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_SECONDS = 0.02
PID_CHARACTERS = 20


@contextmanager
def lock_file(path: Path, timeout_seconds: float) -> Iterator[int]:
    """Hold the lock on a file (made if absent) for the block; yields its descriptor.

    Raises `Unavailable`, naming the holder's pid, when somebody else still holds it after the timeout. Two threads of one
    process exclude each other too.
    """
    with disk_failures("lock", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _wait_for_lock(descriptor, path, timeout_seconds)
        # The pid only helps a waiting person, and a full disk must not keep anybody from uninstalling.
        with suppress(OSError):
            os.pwrite(descriptor, f"{os.getpid():<{PID_CHARACTERS}}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait_for_lock(descriptor: int, path: Path, timeout_seconds: float) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not _try_lock(descriptor, path):
        if time.monotonic() >= deadline:
            raise _held(descriptor, path, timeout_seconds)
        time.sleep(POLL_SECONDS)


def _try_lock(descriptor: int, path: Path) -> bool:
    with disk_failures("lock", path):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _held(descriptor: int, path: Path, timeout_seconds: float) -> Unavailable:
    pid = os.pread(descriptor, PID_CHARACTERS, 0).decode("ascii", "replace").strip() or "unknown"
    return Unavailable(
        f"{path} is locked by process {pid}",
        why=f"another install or uninstall is running there; waited {timeout_seconds:g} s",
        hint="wait for it to end, or try again",
        details={"path": str(path), "pid": int(pid) if pid.isdigit() else None},
    )
