from __future__ import annotations

import errno
import os

import pytest

from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput, MarketError, NotFound, Refused, Unavailable, Untrusted

CODES: list[tuple[int, type[MarketError]]] = [
    (errno.ENOSPC, Unavailable),
    (errno.EDQUOT, Unavailable),
    (errno.EIO, Unavailable),
    (errno.EMFILE, Unavailable),
    (errno.EACCES, Refused),
    (errno.EPERM, Refused),
    (errno.EROFS, Refused),
    (errno.ENOENT, NotFound),
    (errno.ENOTDIR, NotFound),
    (errno.EEXIST, Conflict),
    (errno.ENOTEMPTY, Conflict),
    (errno.ENAMETOOLONG, InvalidInput),
]


@pytest.mark.parametrize(("code", "kind"), CODES)
def test_each_failure_is_one_error_with_what_and_where(code: int, kind: type[MarketError]) -> None:
    with pytest.raises(MarketError) as caught, disk_failures("write", "/some/file"):
        raise OSError(code, os.strerror(code))
    assert type(caught.value) is kind
    assert caught.value.message == "can't write /some/file"
    assert caught.value.why
    assert caught.value.hint
    assert caught.value.details == {"path": "/some/file", "errno": errno.errorcode[code]}


def test_other_errors_pass() -> None:
    with pytest.raises(Untrusted), disk_failures("write", "/some/file"):
        raise Untrusted("x")
