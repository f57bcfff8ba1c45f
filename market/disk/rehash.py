"""Reading an unpacked tree back from the disk: what is there is what its record says, and nothing else is."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

from market.errors import Untrusted

if TYPE_CHECKING:
    from market.pack.record import FileRecord, Record

CHUNK_BYTES = 1 << 20
FILE_MODE = 0o644
EXECUTABLE_MODE = 0o755
DIRECTORY_MODE = 0o755

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check_tree(directory: int, record: Record) -> None:
    """Raise `Untrusted` unless the tree below an open directory is exactly the record's: files, bytes, kinds and modes.

    Entries are reached through descriptors and no link is followed.
    """
    expected = dict(record.by_path)
    folders = {path[:at] for path in expected for at, letter in enumerate(path) if letter == "/"}
    _check_directory(directory, "", expected, folders)
    for path in expected:
        raise differs(path, "it is not there")


def _check_directory(directory: int, prefix: str, expected: dict[str, FileRecord], folders: set[str]) -> None:
    for name in os.listdir(directory):
        path = prefix + name
        file = expected.pop(path, None)
        if file is not None:
            _check_file(directory, name, file)
            continue
        if path not in folders:
            raise differs(path, "it is not in the record")
        try:
            inner = os.open(name, _DIRECTORY, dir_fd=directory)
        except OSError:
            raise differs(path, "it is not a folder") from None
        try:
            _check_mode(path, os.fstat(inner).st_mode, DIRECTORY_MODE)
            _check_directory(inner, f"{path}/", expected, folders)
        finally:
            os.close(inner)


def _check_file(directory: int, name: str, file: FileRecord) -> None:
    try:
        descriptor = os.open(name, _FILE, dir_fd=directory)
    except OSError as error:
        raise differs(file.path, f"it can't be read back: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise differs(file.path, "it is not a regular file")
        _check_mode(file.path, status.st_mode, EXECUTABLE_MODE if file.executable else FILE_MODE)
        size, sha256 = _hash(descriptor, file.size)
    finally:
        os.close(descriptor)
    if (size, sha256) != (file.size, file.sha256):
        found = f"{size} bytes with sha256 {sha256}"
        raise differs(file.path, f"expected {file.size} bytes with sha256 {file.sha256}, got {found}")


def _check_mode(path: str, mode: int, expected: int) -> None:
    if stat.S_IMODE(mode) != expected:
        raise differs(path, f"expected the mode {expected:04o}, got {stat.S_IMODE(mode):04o}")


def _hash(descriptor: int, expected_size: int) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    # One byte past the record is enough to know that it lies.
    while size <= expected_size and (chunk := os.read(descriptor, CHUNK_BYTES)):
        digest.update(chunk)
        size += len(chunk)
    return size, digest.hexdigest()


def differs(path: str, why: str) -> Untrusted:
    """Make the error for one path that isn't as recorded."""
    return Untrusted(f"{path} is not what the pack's record says", why=why, hint="download the pack again")
