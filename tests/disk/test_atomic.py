from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from market.disk.atomic import fsync_directory, sync_file_system, write_atomic, write_fully

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_replaced_with_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    before = os.umask(0o077)
    try:
        write_atomic(path, b"old")
        write_atomic(path, b"new", 0o640)
    finally:
        os.umask(before)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "broken")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError, match="broken"):
            write_atomic(path, b"new")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:3]))
    descriptor = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    write_fully(descriptor, b"0123456789")
    os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_syncing_works_on_directories_and_reports_failure(tmp_path: Path) -> None:
    fsync_directory(tmp_path)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    sync_file_system(descriptor)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync_file_system(descriptor)
