"""Which paths a pack may hold, so that it is the same tree on every system. Nothing here touches a disk.

A path is checked by itself (`check_path`) and against the others (`find_collisions`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from market.errors import Problem

MAX_PATH_BYTES = 240
MAX_PART_BYTES = 100
MAX_DEPTH = 16

# Folders of tools that act on their content: `.git` runs hooks, `.market` holds receipts, byte code hides what runs.
FORBIDDEN_FOLDERS = frozenset({".git", ".hg", ".svn", ".market", "__pycache__", "__macosx", "node_modules"})

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]+)*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
# Zero-width and bidirectional controls (U+200D joins emoji, but also hides), soft hyphen, fillers, tags, variation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])\s*(?:\..*)?",
    re.IGNORECASE,
)


def check_path(path: str) -> tuple[Problem, ...]:
    """Return every rule that a relative POSIX path breaks. A name that wasn't UTF-8 comes with surrogate escapes."""
    return tuple(make_problem(rule, text, path) for rule, text in _find_faults(path))


def find_collisions(paths: Iterable[str]) -> tuple[Problem, ...]:
    """Return the paths that stand twice, are equal on a case-insensitive disk, or are a file and a folder at once."""
    problems: list[Problem] = []
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        key = fold_path(path)
        earlier = files.get(key)
        if earlier == path:
            problems.append(make_problem("path-duplicate", f"{path!r} stands twice", path))
        elif earlier is not None:
            problems.append(make_problem("path-collision", f"{path!r} and {earlier!r} differ in spelling only", path))
        files.setdefault(key, path)
        problems.extend(_add_folders(path, folders))
    for key in files.keys() & folders.keys():
        problems.append(
            make_problem("path-file-and-folder", f"{files[key]!r} is a file and {folders[key]!r} a folder", files[key])
        )
    return tuple(problems)


def fold_path(path: str) -> str:
    """Return the spelling that all names share which are one file on a case-insensitive disk."""
    return (
        path.lower() if path.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())
    )


def _add_folders(path: str, folders: dict[str, str]) -> Iterator[Problem]:
    folder = path.rpartition("/")[0]
    while folder:
        known = folders.get(key := fold_path(folder))
        if known == folder:
            return  # its parents were added with it
        folders.setdefault(key, folder)
        if known is not None:
            yield make_problem("path-collision", f"the folders {folder!r} and {known!r} differ in spelling only", path)
        folder = folder.rpartition("/")[0]


def _find_faults(path: str) -> Iterator[tuple[str, str]]:
    if _PLAIN.fullmatch(path) and len(path) <= MAX_PART_BYTES:
        yield from _find_part_faults(path)
        return
    shown = ascii(path) if not path.isprintable() else repr(path)
    if path.startswith(("/", "\\\\")):
        yield "path-absolute", f"{shown} is absolute"
    if "\\" in path:
        yield "path-backslash", f"{shown} holds a backslash"
    if ":" in path:
        yield "path-colon", f"{shown} holds a colon"
    if _CONTROL.search(path):
        yield "path-control", f"{shown} holds a control character"
    if _INVISIBLE.search(path):
        yield "path-invisible", f"{path!a} holds an invisible character"
    if path.startswith(("-", "~")):
        yield "path-leading", f"{shown} starts with {path[0]!r}"
    yield from _find_encoding_faults(path, shown)
    yield from _find_part_faults(path)


def _find_encoding_faults(path: str, shown: str) -> Iterator[tuple[str, str]]:
    if path.isascii():
        return
    try:
        path.encode()
    except UnicodeEncodeError:
        yield "path-encoding", f"{shown} is not UTF-8"
        return
    if unicodedata.normalize("NFC", path) != path:
        yield "path-normal-form", f"{path!a} is not in Unicode form NFC"


def _find_part_faults(path: str) -> Iterator[tuple[str, str]]:
    parts = path.removeprefix("/").split("/")
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        yield "path-long", f"{path[:60]!r}... has more than {MAX_PATH_BYTES} bytes"
    if len(parts) > MAX_DEPTH:
        yield "path-deep", f"{path[:60]!r} lies more than {MAX_DEPTH} levels deep"
    for part in parts:
        if part in ("", ".", ".."):
            yield "path-parts", f"{path[:80]!r} holds the part {part!r}"
        elif part.endswith((".", " ")):
            yield "path-ending", f"{path[:80]!r} holds the part {part!r}, which ends in a dot or a space"
        elif _RESERVED.fullmatch(part):
            yield "path-reserved", f"{path[:80]!r} holds the device name {part!r}"
        elif len(part.encode("utf-8", "surrogateescape")) > MAX_PART_BYTES:
            yield "path-long", f"{path[:60]!r} holds a name of more than {MAX_PART_BYTES} bytes"
        elif part.lower() in FORBIDDEN_FOLDERS:
            yield "path-forbidden", f"{path[:80]!r} lies in {part!r}"
