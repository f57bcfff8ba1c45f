"""The strict reader: only the canonical archive is read, and every byte of it is accounted for. Nothing is unpacked here.

It parses the end record and the central directory, names each deviation by its rule, then demands that headers, order and
ranges are exactly what the writer would have written. Declared sizes are held against the bytes that are there; the checksum is
checked whenever a file is read. Hazards are from PKWARE's format, Go's module zips and the parser differentials of ZipDiff.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, BinaryIO

from market.errors import Untrusted
from market.pack.archive_directory import read_directory
from market.pack.archive_rows import check_rows
from market.pack.paths import check_path, find_collisions
from market.pack.rules import make_problem
from market.pack.source import SourceFile
from market.pack.zip_format import LOCAL, PACK_LIMITS, Entry, Limits, dump_local

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.errors import Problem
    from market.pack.source import Source

MAX_PROBLEMS = 50
MAX_BYTES_IN_MEMORY = 1 << 20


def read_archive(stream: BinaryIO, limits: Limits = PACK_LIMITS) -> Source:
    """Return the tree in a canonical archive. `stream` must be seekable and stay open as long as the tree is read.

    Raises `Untrusted` with a problem for each hazard. What the tree then reads is checked too, and may raise the same.
    """
    directory = read_directory(stream, max_rows=limits.files, max_archive_bytes=limits.archive_bytes)
    entries, problems = check_rows(directory, max_file_bytes=limits.file_bytes)
    names = [entry.name.decode("utf-8", "surrogateescape") for entry in entries]
    problems.extend(problem for name in names for problem in check_path(name))
    problems.extend(find_collisions(names))
    if not problems:
        problems.extend(_check_ranges(stream, entries, directory.offset))
    if problems:
        raise refuse_archive(problems)
    return ArchiveSource(stream, entries)


def refuse_archive(problems: Sequence[Problem]) -> Untrusted:
    """Make the error for an archive with problems; a foreign zip is told how to become a pack."""
    first = problems[0]
    return Untrusted(
        f"the archive is refused: {first.text}", why=first.reason, hint=first.fix, problems=problems[:MAX_PROBLEMS]
    )


def _check_ranges(stream: BinaryIO, entries: Sequence[Entry], directory_offset: int) -> list[Problem]:
    """Demand that entries follow each other without gap from byte 0 to the directory, each with the header of its row."""
    problems: list[Problem] = []
    expected = 0
    for entry in entries:
        path = entry.name.decode()
        if entry.offset != expected:
            rule = "archive-overlap" if entry.offset < expected else "archive-gap" if expected else "archive-prefix"
            return [*problems, make_problem(rule, f"{path!r} starts at byte {entry.offset}, not at {expected}", path)]
        stream.seek(entry.offset)
        header = dump_local(entry)
        if stream.read(len(header)) != header:
            problems.append(make_problem("archive-mismatch", f"the two headers of {path!r} differ", path))
        expected = entry.end
    if expected != directory_offset:
        rule = "archive-gap" if expected < directory_offset else "archive-overlap"
        problems.append(
            make_problem(rule, f"the entries end at byte {expected}, the directory starts at {directory_offset}")
        )
    return problems


class ArchiveSource:
    """A tree inside an archive that was checked. It has no name: an archive's file name says nothing."""

    name = ""

    def __init__(self, stream: BinaryIO, entries: Sequence[Entry]) -> None:
        self._stream = stream
        self._entries = {entry.name.decode(): entry for entry in entries}

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return [SourceFile(path, entry.size, entry.executable) for path, entry in self._entries.items()]

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises `Untrusted` where the checksum is wrong."""
        entry = self._entries[path]
        self._stream.seek(entry.offset + LOCAL.size + len(entry.name))
        content = self._stream.read(entry.size)
        _check_content(path, entry, len(content), zlib.crc32(content))
        return content

    def open(self, path: str) -> BinaryIO:
        """Open a file; its checksum is checked when the last byte is read."""
        if self._entries[path].size <= MAX_BYTES_IN_MEMORY:
            return io.BytesIO(self.read(path))
        return io.BufferedReader(_Slice(self._stream, path, self._entries[path]))


class _Slice(io.RawIOBase):
    """One file's range of the archive. It seeks before each read, as all files share one stream."""

    def __init__(self, stream: BinaryIO, path: str, entry: Entry) -> None:
        self._stream = stream
        self._path = path
        self._entry = entry
        self._done = 0
        self._crc = 0

    def readable(self) -> bool:
        """Say that this is for reading."""
        return True

    def readinto(self, buffer: object) -> int:
        """Read the next bytes; raises `Untrusted` at the end where the checksum is wrong."""
        view = memoryview(buffer)  # type: ignore[arg-type]
        self._stream.seek(self._entry.offset + LOCAL.size + len(self._entry.name) + self._done)
        chunk = self._stream.read(min(len(view), self._entry.size - self._done))
        view[: len(chunk)] = chunk
        self._done += len(chunk)
        self._crc = zlib.crc32(chunk, self._crc)
        if not chunk or self._done == self._entry.size:
            _check_content(self._path, self._entry, self._done, self._crc)
        return len(chunk)


def _check_content(path: str, entry: Entry, size: int, crc: int) -> None:
    if size != entry.size:
        raise refuse_archive(
            [make_problem("archive-truncated", f"{path!r} ends after {size} of {entry.size} bytes", path)]
        )
    if crc != entry.crc:
        raise refuse_archive([make_problem("archive-crc", f"the checksum of {path!r} is wrong", path)])
