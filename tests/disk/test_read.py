from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.disk.read import read_within
from market.errors import InvalidInput, NotFound, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "outside.txt").write_bytes(b"secret")
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c.txt").write_bytes(b"content")
    (root / "link.txt").symlink_to("a/b/c.txt")
    (root / "out.txt").symlink_to("../outside.txt")
    (root / "dir").symlink_to("a/b")
    os.mkfifo(root / "pipe")
    descriptor = os.open(root, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_a_file_below_is_read(directory: int) -> None:
    assert read_within(directory, "a/b/c.txt", 7) == b"content"


def test_a_larger_file_is_refused_by_its_limit(directory: int) -> None:
    with pytest.raises(InvalidInput, match="larger than 6 bytes"):
        read_within(directory, "a/b/c.txt", 6)


@pytest.mark.parametrize(
    "path",
    [
        "../outside.txt",
        "/etc/passwd",
        "a/../a/b/c.txt",
        "a//b/c.txt",
        "",
        "link.txt",
        "out.txt",
        "dir/c.txt",
        "pipe",
        "a/b",
    ],
)
def test_nothing_else_is_read(directory: int, path: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Refused):
        read_within(directory, path, 100)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("path", ["nothing", "a/nothing/c.txt", "a/b/c.txt/d"])
def test_what_is_missing_is_not_found(directory: int, path: str) -> None:
    with pytest.raises(NotFound):
        read_within(directory, path, 100)
