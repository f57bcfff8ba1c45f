"""A disk that fails, or a process that dies, at the n-th call: every road from Market to the kernel that changes something."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from market.disk import atomic, exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

CALLS = ("open", "mkdir", "write", "fchmod", "utime", "fsync", "rename", "replace", "unlink", "rmdir", "link")


class FaultyDisk:
    """Counts calls and does `fault` at the n-th and so many in all. `reached` says whether it came so far."""

    def __init__(self, at: int, fault: Callable[[], None], *, times: int = 1, after: bool = False) -> None:
        self.at, self.fault, self.times, self.after = at, fault, times, after
        self.count = 0

    @property
    def reached(self) -> bool:
        return self.count >= self.at

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.count += 1
            strike = self.at <= self.count < self.at + self.times
            if strike and not self.after:
                self.fault()
            try:
                return call(*arguments, **options)
            finally:
                if strike and self.after:
                    self.fault()

        return counted


@contextmanager
def faulty_calls(monkeypatch: pytest.MonkeyPatch, disk: FaultyDisk) -> Iterator[FaultyDisk]:
    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, disk.wrap(getattr(os, name)))
        for module, finder in ((exchange, "_find_renameat2"), (atomic, "_find_syncfs")):
            wrapped = disk.wrap(getattr(module, finder)())
            patch.setattr(module, finder, lambda wrapped=wrapped: wrapped)
        yield disk


def fail_with(code: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    return fail


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run_until_death(work: Callable[[], object]) -> bool:
    """Run in a child process; True if it was killed, False if it ended by itself. Any exception there is a failure here."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.waitstatus_to_exitcode(status) == 0
    return False


def without_renameat2(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that doesn't know the flags: EINVAL, as from NFS."""

    def refuse(*_: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(exchange, "_find_renameat2", lambda: refuse)


def with_unmovable(monkeypatch: pytest.MonkeyPatch, inodes: set[int]) -> None:
    """Directories that can't be renamed: EXDEV, as the lower layer of an overlay gives."""
    real = exchange._find_renameat2()
    assert real is not None

    def refuse_some(one: int, first: bytes, other: int, second: bytes, flags: int) -> int:
        if any(os.path.lexists(path) and os.lstat(path).st_ino in inodes for path in (first, second)):
            ctypes.set_errno(errno.EXDEV)
            return -1
        return int(real(one, first, other, second, flags))

    monkeypatch.setattr(exchange, "_find_renameat2", lambda: refuse_some)
