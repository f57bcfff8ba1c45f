"""The record: a pack's files with size, sha256 and executable bit. Its hash is the tree digest, the identity of a pack."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO

from market.errors import Untrusted
from market.names import Digest

if TYPE_CHECKING:
    from market.pack.source import Source

CHUNK_BYTES = 1 << 20
TREE_HEADER = b"market-tree-1\n"


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file: path, size in bytes, sha256 as 64 hexadecimal digits, executable bit."""

    path: str
    size: int
    sha256: str
    executable: bool = False


@dataclass(frozen=True)
class Record:
    """All files of a pack, sorted by the UTF-8 bytes of their paths."""

    files: tuple[FileRecord, ...]

    @cached_property
    def tree_digest(self) -> Digest:
        """The sha256 over a header and one line a file: `SHA256 x|- SIZE PATH`. Times, owners and empty folders don't count."""
        digest = hashlib.sha256(TREE_HEADER)
        for file in self.files:
            digest.update(f"{file.sha256} {'x' if file.executable else '-'} {file.size} {file.path}\n".encode())
        return Digest(f"sha256:{digest.hexdigest()}")

    @property
    def size(self) -> int:
        """The sum of the files' sizes in bytes."""
        return sum(file.size for file in self.files)

    @cached_property
    def by_path(self) -> dict[str, FileRecord]:
        """The files by path."""
        return {file.path: file for file in self.files}


def make_record(source: Source) -> Record:
    """Hash every file of a tree; what is read is what counts, not the size that the tree claims."""
    return Record(tuple(_hash_file(source, file.path, file.executable) for file in source.files()))


def dump_record(record: Record) -> list[list[object]]:
    """Return the record as JSON rows `[path, size, sha256, executable]`."""
    return [[file.path, file.size, file.sha256, file.executable] for file in record.files]


def parse_record(rows: object) -> Record:
    """Read rows made by `dump_record`; raises `Untrusted` for any other shape, order or a repeated path."""
    if not isinstance(rows, list):
        raise _bad_record("it is not a list of rows")
    files = tuple(_parse_row(row) for row in rows)
    paths = [file.path.encode() for file in files]
    if any(earlier >= later for earlier, later in pairwise(paths)):
        raise _bad_record("its paths are not in order, or one stands twice")
    return Record(files)


def hash_stream(stream: BinaryIO) -> tuple[int, str]:
    """Read a stream to its end and return its size in bytes and its sha256 as 64 hexadecimal digits."""
    digest, size = hashlib.sha256(), 0
    while chunk := stream.read(CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def _hash_file(source: Source, path: str, executable: bool) -> FileRecord:
    with source.open(path) as stream:
        size, sha256 = hash_stream(stream)
    return FileRecord(path, size, sha256, executable)


def _parse_row(row: object) -> FileRecord:
    match row:
        case [str(path), int(size), str(sha256), bool(executable)] if len(sha256) == 64 and size >= 0:
            return FileRecord(path, size, sha256, executable)
    raise _bad_record(f"a row reads {str(row)[:80]!r}")


def _bad_record(why: str) -> Untrusted:
    return Untrusted("a record of files can't be read", why=why, hint="reinstall the pack or ask the index's operator")
