"""Writing a pack's files into an empty directory, through directory descriptors, and reading back what was written (`rehash`)."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from market.disk.atomic import write_fully
from market.disk.rehash import DIRECTORY_MODE, EXECUTABLE_MODE, FILE_MODE, check_tree, differs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.pack.record import FileRecord, Record
    from market.pack.source import Source

# Larger files are copied in pieces, so that memory stays bounded.
WHOLE_FILE_BYTES = 1 << 20

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def unpack(source: Source, record: Record, directory: int, *, stamp_ns: int | None = None) -> None:
    """Write the files of a record, read from its source, below an open empty directory.

    Nothing is replaced and no link followed; modes are 0644 and 0755 whatever the umask. `stamp_ns` becomes the files'
    modification time. Raises `Untrusted` where the source gives other bytes than the record says, and OSError.
    """
    with _Descent(directory) as descent:
        for file in record.files:
            folder, _, name = file.path.rpartition("/")
            _write_file(source, file, name, descent.enter(folder), stamp_ns)
    check_tree(directory, record)


class _Descent:
    """The open directories from the top down to the current file. A record is sorted, so each folder is entered once."""

    def __init__(self, top: int) -> None:
        self._descriptors = [top]
        self._parts: list[str] = []

    def __enter__(self) -> _Descent:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave_to(0)

    def enter(self, folder: str) -> int:
        parts = folder.split("/") if folder else []
        shared = 0
        while shared < min(len(parts), len(self._parts)) and parts[shared] == self._parts[shared]:
            shared += 1
        self._leave_to(shared)
        for part in parts[shared:]:
            self._descriptors.append(_make_directory(part, self._descriptors[-1]))
            self._parts.append(part)
        return self._descriptors[-1]

    def _leave_to(self, depth: int) -> None:
        while len(self._parts) > depth:
            self._parts.pop()
            os.close(self._descriptors.pop())


def _make_directory(name: str, parent: int) -> int:
    os.mkdir(name, DIRECTORY_MODE, dir_fd=parent)
    descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    os.fchmod(descriptor, DIRECTORY_MODE)
    return descriptor


def _write_file(source: Source, file: FileRecord, name: str, directory: int, stamp_ns: int | None) -> None:
    mode = EXECUTABLE_MODE if file.executable else FILE_MODE
    with _new_file(name, mode, directory) as descriptor:
        try:
            _copy(source, file, descriptor)
        except KeyError:
            raise differs(file.path, "the archive doesn't hold it") from None
        os.fchmod(descriptor, mode)
        if stamp_ns is not None:
            os.utime(descriptor, ns=(stamp_ns, stamp_ns))


@contextmanager
def _new_file(name: str, mode: int, directory: int) -> Iterator[int]:
    descriptor = os.open(name, _NEW_FILE, mode, dir_fd=directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy(source: Source, file: FileRecord, descriptor: int) -> None:
    """Write a file's bytes, at most one piece more than the record says; the reading back says whether they are right."""
    if file.size <= WHOLE_FILE_BYTES:
        write_fully(descriptor, source.read(file.path))
        return
    size = 0
    with source.open(file.path) as stream:
        while size <= file.size and (chunk := stream.read(WHOLE_FILE_BYTES)):
            write_fully(descriptor, chunk)
            size += len(chunk)
