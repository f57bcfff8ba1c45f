"""Which Market error a failed disk call is: the one place where OSError is converted. Exit codes are the command line's."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from market.errors import Conflict, InvalidInput, MarketError, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR})
_THERE = frozenset({errno.EEXIST, errno.ENOTEMPTY})


@contextmanager
def disk_failures(act: str, path: os.PathLike[str] | str) -> Iterator[None]:
    """Turn an OSError of the block into a `MarketError` that says what (`act`, as in "can't ACT PATH") failed, and where."""
    try:
        yield
    except OSError as error:
        raise convert_failure(error, act, path) from error


def convert_failure(error: OSError, act: str, path: os.PathLike[str] | str) -> MarketError:
    """Return the Market error for one OSError: a full disk is `Unavailable`, a forbidden write `Refused`."""
    message, why, code = f"can't {act} {path}", error.strerror or str(error), error.errno
    details = {"path": str(path), "errno": errno.errorcode.get(code or 0, "")}
    if code in _FULL:
        return Unavailable(
            message, why=f"the disk is full ({why})", hint="free some space and try again", details=details
        )
    if code in _FORBIDDEN:
        return Refused(
            message,
            why=why,
            hint="choose a folder that this user may write to, or correct its permissions",
            details=details,
        )
    if code in _ABSENT:
        return NotFound(message, why=why, hint="check the path", details=details)
    if code in _THERE:
        return Conflict(message, why=why, hint="something else put a file there; move it away", details=details)
    if code in (errno.ENAMETOOLONG, errno.ELOOP):
        return InvalidInput(message, why=why, hint="use a shorter path without looping links", details=details)
    return Unavailable(message, why=why, hint="try again; if it stays, check the disk", details=details)
