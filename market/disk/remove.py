"""Deleting a tree of any depth and any modes, never following a link."""

from __future__ import annotations

import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path) -> None:
    """Delete a directory with everything below it, or a single file. Raises OSError; what was deleted until then is gone."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)  # noqa: PTH108 - as in atomic.py
        return
    descriptor = _open_emptiable(path)
    try:
        empty_directory(descriptor)
    finally:
        os.close(descriptor)
    os.rmdir(path)  # noqa: PTH106


def empty_directory(top: int) -> None:
    """Delete everything in an open directory.

    Folders below the first level are first moved up to it: a skill that made ten thousand nested folders costs neither
    stack nor descriptors.
    """
    prefix, moved = secrets.token_hex(4), 0
    while names := os.listdir(top):
        for name in names:
            if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
                os.unlink(name, dir_fd=top)
                continue
            moved = _flatten(top, name, prefix, moved)
            os.rmdir(name, dir_fd=top)


def _flatten(top: int, name: str, prefix: str, moved: int) -> int:
    inner = _open_emptiable(name, top)
    try:
        with os.scandir(inner) as entries:
            listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        for entry_name, is_directory in listed:
            if is_directory:
                _make_emptiable(entry_name, inner)
                os.rename(entry_name, f".{prefix}-{moved}", src_dir_fd=inner, dst_dir_fd=top)
                moved += 1
            else:
                os.unlink(entry_name, dir_fd=inner)
    finally:
        os.close(inner)
    return moved


def _open_emptiable(name: str | Path, directory: int | None = None) -> int:
    _make_emptiable(name, directory)
    return os.open(name, _DIRECTORY, dir_fd=directory)


def _make_emptiable(name: str | Path, directory: int | None) -> None:
    # A program may have left folders that even their owner can't list or write.
    mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=directory)
