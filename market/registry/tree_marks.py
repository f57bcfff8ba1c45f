"""Has a tree changed? Its files' sizes, times, modes and inodes, without reading any of them. What is in the files isn't known here."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from market.registry.unit import StatMark

SKIPPED_FOLDERS = frozenset({".market", ".git", ".hg", ".svn", "node_modules", "__pycache__"})
MAX_TREE_ENTRIES = 20_000
"""Files and folders of one unit that are compared; a larger tree is cut off here, and no pack may be that large."""

GONE: StatMark = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class TreeMarks:
    """The marks of a directory's files by their path in it. `signature` changes when any of them does; `top` is the directory's own."""

    signature: bytes
    files: dict[str, StatMark]
    top: StatMark


def scan_tree(path: str, left_out: frozenset[str] = frozenset()) -> TreeMarks:
    """Return the marks of every file below a directory, without the folders named in `left_out` at its top.

    A directory that is missing or can't be read counts as empty; so does what disappears meanwhile.
    """
    # Before the files: what comes in between makes the tree look changed, not unchanged.
    top = mark_file(path)
    files: dict[str, StatMark] = {}
    pending = [""]
    seen = 0
    while pending and seen < MAX_TREE_ENTRIES:
        prefix = pending.pop()
        for entry in _entries(f"{path}/{prefix}"):
            seen += 1
            name = prefix + entry.name
            if not entry.is_dir(follow_symlinks=False):
                files[name] = _mark(entry)
            elif entry.name not in SKIPPED_FOLDERS and name not in left_out:
                pending.append(f"{name}/")
    digest = hashlib.sha256(repr(sorted(files.items())).encode(errors="surrogateescape"))
    return TreeMarks(digest.digest()[:16], files, top)


def mark_file(path: str) -> StatMark:
    """Return the mark of one file, links followed, or `GONE`."""
    try:
        return _as_mark(os.stat(path))  # noqa: PTH116 - called for thousands of files in a row
    except OSError:
        return GONE


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:
        return []


def _mark(entry: os.DirEntry[str]) -> StatMark:
    try:
        # A link counts as what it leads to, so that an edit there is seen.
        return _as_mark(entry.stat())
    except OSError:
        return GONE


def _as_mark(status: os.stat_result) -> StatMark:
    return status.st_ino, status.st_size, status.st_mtime_ns, stat.S_IMODE(status.st_mode)
