"""What one row of the central directory may say, and a rule for each thing that it may not."""

from __future__ import annotations

import stat
from itertools import pairwise
from typing import TYPE_CHECKING

from market.pack.rules import make_problem
from market.pack.zip_format import (
    DATE,
    EXECUTABLE_MODE,
    FLAG_DESCRIPTOR,
    FLAG_UTF8,
    FLAGS_ENCRYPTED,
    MAX_FILE_BYTES,
    PLAIN_MODE,
    STORED,
    TIME,
    VERSION_MADE,
    VERSION_NEEDED,
    Entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.errors import Problem
    from market.pack.archive_directory import Directory, Row

_UNIX = 3
_LARGE_SIZE = 0xFFFFFFFF


def check_rows(directory: Directory, *, max_file_bytes: int = MAX_FILE_BYTES) -> tuple[list[Entry], list[Problem]]:
    """Return the entries as rows describe them, with every deviation from the canonical form."""
    problems = [
        make_problem(rule, text, path)
        for row in directory.rows
        for path in (_show(row.name),)
        for rule, text in _find_faults(row, path, max_file_bytes)
    ]
    problems.extend(_check_order([row.name for row in directory.rows]))
    entries = [
        Entry(row.name, row.crc, row.size, bool((row.external >> 16) & 0o100), row.offset) for row in directory.rows
    ]
    return entries, problems


def _find_faults(row: Row, path: str, max_file_bytes: int) -> Iterator[tuple[str, str]]:
    if row.flags & FLAGS_ENCRYPTED:
        yield "archive-encrypted", f"{path!r} is encrypted"
    if row.flags & FLAG_DESCRIPTOR:
        yield "archive-descriptor", f"the size of {path!r} comes after its bytes"
    if row.method != STORED:
        yield "archive-compressed", f"{path!r} is compressed (method {row.method})"
    if row.extra:
        yield ("archive-zip64" if row.extra[:2] == b"\x01\x00" else "archive-extra"), f"{path!r} has an extra field"
    if row.comment:
        yield "archive-comment", f"{path!r} has a comment"
    if _LARGE_SIZE in (row.size, row.stored_size, row.offset):
        yield "archive-zip64", f"{path!r} has a zip64 size"
    elif row.method == STORED and row.size != row.stored_size:
        yield "archive-size", f"{path!r} claims {row.size} bytes and stores {row.stored_size}"
    elif row.size > max_file_bytes:
        yield "archive-file-too-large", f"{path!r} has {row.size:,} bytes, more than {max_file_bytes:,}"
    yield from _find_type_faults(row, path)
    yield from _find_header_faults(row, path)


def _find_type_faults(row: Row, path: str) -> Iterator[tuple[str, str]]:
    mode = row.external >> 16
    kind = stat.S_IFMT(mode)
    if row.name.endswith((b"/", b"\\")) or kind == stat.S_IFDIR:
        yield "archive-folder", f"{path!r} is a folder's entry"
    elif kind == stat.S_IFLNK:
        yield "archive-link", f"{path!r} is a symbolic link"
    elif kind not in (0, stat.S_IFREG):
        yield "archive-special", f"{path!r} is a device, pipe or socket"
    elif mode not in (PLAIN_MODE, EXECUTABLE_MODE) or row.external & 0xFFFF:
        yield (
            "archive-mode",
            f"{path!r} has the mode {stat.S_IMODE(mode):04o}"
            if row.made >> 8 == _UNIX
            else f"{path!r} has no Unix mode",
        )


def _find_header_faults(row: Row, path: str) -> Iterator[tuple[str, str]]:
    fields = (
        ("version made by", row.made, VERSION_MADE),
        ("version needed", row.needed, VERSION_NEEDED),
        ("flags", row.flags & ~(FLAGS_ENCRYPTED | FLAG_DESCRIPTOR), FLAG_UTF8),
        ("time", row.time, TIME),
        ("date", row.date, DATE),
        ("disk", row.disk, 0),
        ("internal attributes", row.internal, 0),
    )
    for name, value, canonical in fields:
        if value != canonical:
            yield "archive-header", f"{name} of {path!r} is {value:#x}, not {canonical:#x}"


def _check_order(names: Sequence[bytes]) -> Iterator[Problem]:
    for earlier, later in pairwise(names):
        if earlier > later:
            yield make_problem("archive-order", f"{_show(later)!r} stands after {_show(earlier)!r}", _show(later))
            return


def _show(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
