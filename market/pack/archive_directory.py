"""The end of an archive: its end record and the raw rows of its central directory. What the rows say is not judged here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from market.errors import Untrusted
from market.pack.rules import make_problem
from market.pack.zip_format import (
    CENTRAL,
    CENTRAL_SIGNATURE,
    END,
    END_SIGNATURE,
    LOCAL_SIGNATURE,
    MAX_ARCHIVE_BYTES,
    MAX_FILES,
    ZIP64_SIGNATURES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_COMMENT_BYTES = 0xFFFF


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the central directory as it stands there."""

    made: int
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    stored_size: int
    size: int
    disk: int
    internal: int
    external: int
    offset: int
    name: bytes
    extra: bytes
    comment: bytes


@dataclass(frozen=True, slots=True)
class Directory:
    """The central directory: where it starts, and its rows. `comment` is the archive's, empty in a canonical one."""

    offset: int
    rows: tuple[Row, ...]
    comment: bytes = b""


def read_directory(
    stream: BinaryIO,
    *,
    max_comment_bytes: int = 0,
    max_rows: int = MAX_FILES,
    max_archive_bytes: int = MAX_ARCHIVE_BYTES,
) -> Directory:
    """Find the end record and read the directory that it points to; raises `Untrusted`.

    The record is the last 22 bytes. Only for foreign archives a comment may follow it, up to `max_comment_bytes`.
    """
    size = stream.seek(0, 2)
    if size > max_archive_bytes:
        raise _refuse("archive-too-large", f"the archive has {size:,} bytes, more than {max_archive_bytes:,}")
    stream.seek(max(size - END.size, 0))
    end, comment_text = stream.read(END.size), b""
    if len(end) < END.size or not end.startswith(END_SIGNATURE):
        end, comment_text = _find_commented_end(stream, size, max_comment_bytes)
    _, disk, first_disk, here, count, directory_size, offset, comment = END.unpack(end)
    if comment != len(comment_text):
        raise _refuse("archive-comment", "the end record announces a comment")
    if here == 0xFFFF or count == 0xFFFF or directory_size == 0xFFFFFFFF or offset == 0xFFFFFFFF:
        raise _refuse("archive-zip64", "the end record points to a zip64 record")
    if disk or first_disk or here != count:
        raise _refuse("archive-multi-disk", "the end record speaks of several disks")
    if count > max_rows:
        raise _refuse("archive-too-many", f"the archive holds {count:,} files, more than {max_rows:,}")
    if not count:
        raise _refuse("archive-empty", "the archive holds no files")
    _check_position(stream, size - END.size - len(comment_text), directory_size, offset)
    stream.seek(offset)
    return Directory(offset, tuple(_read_rows(stream.read(directory_size), count)), comment_text)


def _find_commented_end(stream: BinaryIO, size: int, max_comment_bytes: int) -> tuple[bytes, bytes]:
    """Return an end record that a comment follows, and the comment; raises where there is none or it is too long."""
    stream.seek(max(size - END.size - max_comment_bytes, 0))
    tail = stream.read()
    # The first one that fits; another within its comment would give other readers another archive.
    at = tail.find(END_SIGNATURE)
    while 0 <= at <= len(tail) - END.size and max_comment_bytes:
        end, comment = tail[at : at + END.size], tail[at + END.size :]
        if END.unpack(end)[-1] == len(comment):
            if END_SIGNATURE in comment:
                raise _refuse("archive-end-records", "there are two end records")
            return end, comment
        at = tail.find(END_SIGNATURE, at + 1)
    raise _explain_missing_end(stream, size)


def _explain_missing_end(stream: BinaryIO, size: int) -> Untrusted:
    """Say why the last bytes are no end record: it stands earlier, or not at all."""
    stream.seek(max(size - END.size - MAX_COMMENT_BYTES, 0))
    tail = stream.read()
    at = tail.rfind(END_SIGNATURE)
    if 0 <= at <= len(tail) - END.size:
        comment = END.unpack_from(tail, at)[-1]
        if comment and at + END.size + comment == len(tail):
            return _refuse("archive-comment", f"the archive has a comment of {comment} bytes")
        return _refuse("archive-trailing", f"{len(tail) - at - END.size} bytes follow the end record")
    stream.seek(0)
    if stream.read(4) == LOCAL_SIGNATURE:
        return _refuse("archive-truncated", "the archive's end is missing")
    return _refuse("archive-not-zip", "this is not a zip archive")


def _check_position(stream: BinaryIO, end: int, directory_size: int, offset: int) -> None:
    """Demand that the directory ends where the end record starts."""
    if offset + directory_size == end:
        return
    if offset + directory_size > end:
        raise _refuse("archive-truncated", "the directory reaches beyond the end record")
    stream.seek(offset)
    if stream.read(4) != CENTRAL_SIGNATURE:
        raise _refuse("archive-prefix", f"{end - offset - directory_size} bytes stand before the archive")
    stream.seek(offset + directory_size)
    gap = stream.read(end - offset - directory_size)
    if gap.startswith(ZIP64_SIGNATURES):
        raise _refuse("archive-zip64", "a zip64 record stands before the end record")
    if END_SIGNATURE in gap:
        raise _refuse("archive-end-records", "there are two end records")
    raise _refuse("archive-gap", f"{len(gap)} bytes stand between the directory and the end record")


def _read_rows(data: bytes, count: int) -> Iterator[Row]:
    at = 0
    for number in range(1, count + 1):
        if at + CENTRAL.size > len(data) or data[at : at + 4] != CENTRAL_SIGNATURE:
            raise _refuse("archive-directory", f"row {number} of {count} can't be read")
        fields = CENTRAL.unpack_from(data, at)
        lengths = fields[10:13]
        start = at + CENTRAL.size
        at = start + sum(lengths)
        if at > len(data):
            raise _refuse("archive-directory", f"row {number} of {count} is cut short")
        name_end, extra_end = start + lengths[0], start + lengths[0] + lengths[1]
        texts = (data[start:name_end], data[name_end:extra_end], data[extra_end:at])
        values: list[Any] = [*fields[1:10], *fields[13:], *texts]  # all but the signature and the three lengths
        yield Row(*values)
    if at != len(data):
        raise _refuse("archive-directory", f"the directory holds more than its {count} rows")


def _refuse(rule: str, text: str) -> Untrusted:
    problem = make_problem(rule, text)
    return Untrusted(f"the archive is refused: {text}", why=problem.reason, hint=problem.fix, problems=(problem,))
