from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.disk.rehash import check_tree
from market.disk.unpack import unpack
from market.errors import Untrusted
from market.pack.record import make_record
from market.pack.source import MemorySource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOURCE = MemorySource({"a/b/file": b"content", "run": b"#!/bin/sh\n", "z": b""}, executables=frozenset({"run"}))
RECORD = make_record(SOURCE)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    top.mkdir()
    check(top, unpack_first=True)
    return top


def check(top: Path, *, unpack_first: bool = False) -> None:
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if unpack_first:
            unpack(SOURCE, RECORD, descriptor)
        check_tree(descriptor, RECORD)
    finally:
        os.close(descriptor)


def replace_by_link(top: Path) -> None:
    (top / "run").rename(top.parent / "elsewhere")
    (top / "run").symlink_to(top.parent / "elsewhere")


def replace_folder_by_link(top: Path) -> None:
    (top / "a").rename(top.parent / "other")
    (top / "a").symlink_to(top.parent / "other")


def replace_by_pipe(top: Path) -> None:
    (top / "z").unlink()
    os.mkfifo(top / "z", 0o644)


def replace_by_folder(top: Path) -> None:
    (top / "z").unlink()
    (top / "z").mkdir()


CHANGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "other bytes": ("a/b/file", lambda top: (top / "a/b/file").write_bytes(b"CONTENT")),
    "longer": ("a/b/file", lambda top: (top / "a/b/file").write_bytes(b"content and more")),
    "shorter": ("a/b/file", lambda top: (top / "a/b/file").write_bytes(b"con")),
    "gone": ("z", lambda top: (top / "z").unlink()),
    "one more file": ("a/more", lambda top: (top / "a/more").write_bytes(b"")),
    "one more folder": ("more", lambda top: (top / "more").mkdir()),
    "a link in its place": ("run", replace_by_link),
    "a link for a folder": ("a", replace_folder_by_link),
    "a pipe in its place": ("z", replace_by_pipe),
    "a folder in its place": ("z", replace_by_folder),
    "not executable": ("run", lambda top: (top / "run").chmod(0o644)),
    "executable": ("z", lambda top: (top / "z").chmod(0o755)),
    "set user id": ("run", lambda top: (top / "run").chmod(0o4755)),
    "set group id": ("run", lambda top: (top / "run").chmod(0o2755)),
    "writable by all": ("z", lambda top: (top / "z").chmod(0o666)),
    "a sticky folder": ("a/b", lambda top: (top / "a/b").chmod(0o1755)),
    "a folder open to all": ("a", lambda top: (top / "a").chmod(0o777)),
}


def test_what_was_unpacked_is_what_was_recorded(tree: Path) -> None:
    check(tree)


@pytest.mark.parametrize("change", CHANGES)
def test_any_other_tree_is_refused_and_the_place_named(tree: Path, change: str) -> None:
    path, act = CHANGES[change]
    act(tree)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Untrusted, match="not what the pack's record says") as caught:
        check(tree)
    assert caught.value.message.startswith(f"{path} ")
    assert len(os.listdir("/proc/self/fd")) == before


def test_times_and_empty_record_paths_do_not_count(tree: Path) -> None:
    os.utime(tree / "z", (1, 1))
    check(tree)
