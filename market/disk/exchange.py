"""Swapping two names in one step, and renaming without ever replacing (renameat2 of Linux).

What to do where the file system can't is not here: `market.installer.switch` knows which way back there is.
"""

from __future__ import annotations

import ctypes
import errno
import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

AT_FDCWD = -100
RENAME_NOREPLACE = 1
RENAME_EXCHANGE = 2

# EINVAL: the file system doesn't know the flag. ENOSYS: the kernel doesn't know the call.
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})


class ExchangeUnsupported(OSError):
    """This file system or kernel has no renameat2 with that flag."""


def exchange(first: Path, second: Path) -> None:
    """Swap what two paths name; no moment exists in which one is missing. Raises `ExchangeUnsupported` or another OSError."""
    _call_renameat2(first, second, RENAME_EXCHANGE)


def rename_new(source: Path, target: Path) -> None:
    """Rename to a name that must be free; raises FileExistsError where it isn't.

    Without renameat2 the check and the rename are two steps, which only a program that ignores the root's lock can come between.
    """
    try:
        _call_renameat2(source, target, RENAME_NOREPLACE)
    except ExchangeUnsupported:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        os.rename(source, target)  # noqa: PTH104 - as in atomic.py


def _call_renameat2(first: Path, second: Path, flags: int) -> None:
    renameat2 = _find_renameat2()
    if renameat2 is None:
        raise ExchangeUnsupported(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), flags) == 0:
        return
    code = ctypes.get_errno()
    kind = ExchangeUnsupported if code in _UNSUPPORTED else OSError
    raise kind(code, os.strerror(code), str(first), None, str(second))


@cache
def _find_renameat2() -> ctypes._NamedFuncPointer | None:
    return getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
