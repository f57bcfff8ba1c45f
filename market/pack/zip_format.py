"""The canonical zip, byte for byte: the three structures and the constants that the writer writes and the reader demands.

Stored, UTF-8, one fixed time, modes 0644 and 0755, no extras, comments, folders or descriptors. The standard's field names are
those of PKWARE's APPNOTE.
"""

from __future__ import annotations

import stat
import struct
from dataclasses import dataclass

MAX_ARCHIVE_BYTES = 64 << 20
MAX_FILE_BYTES = 50 << 20
MAX_FILES = 5_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a canonical zip may be: in all, a file, and how many files. Sizes in bytes, below the format's 4 GiB."""

    archive_bytes: int = MAX_ARCHIVE_BYTES
    file_bytes: int = MAX_FILE_BYTES
    files: int = MAX_FILES


PACK_LIMITS = Limits()

LOCAL_SIGNATURE = b"PK\x03\x04"
CENTRAL_SIGNATURE = b"PK\x01\x02"
END_SIGNATURE = b"PK\x05\x06"
ZIP64_SIGNATURES = (b"PK\x06\x06", b"PK\x06\x07")

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")

VERSION_NEEDED = 20
VERSION_MADE = (3 << 8) | 20  # made on Unix: the upper half of the external attributes is a mode
FLAG_UTF8 = 0x800
FLAG_DESCRIPTOR = 0x8
FLAGS_ENCRYPTED = 0x1 | 0x40 | 0x2000
STORED = 0
TIME = 0
DATE = (0 << 9) | (1 << 5) | 1  # 1980-01-01, the first day that the format knows
PLAIN_MODE = stat.S_IFREG | 0o644
EXECUTABLE_MODE = stat.S_IFREG | 0o755


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored file: its name's bytes, checksum, size, mode, and where its local header starts."""

    name: bytes
    crc: int
    size: int
    executable: bool
    offset: int

    @property
    def end(self) -> int:
        """Where the next local header must start."""
        return self.offset + LOCAL.size + len(self.name) + self.size


def dump_local(entry: Entry) -> bytes:
    """Return an entry's local header with its name."""
    head = (
        LOCAL_SIGNATURE,
        VERSION_NEEDED,
        FLAG_UTF8,
        STORED,
        TIME,
        DATE,
        entry.crc,
        entry.size,
        entry.size,
        len(entry.name),
        0,
    )
    return LOCAL.pack(*head) + entry.name


def dump_central(entry: Entry) -> bytes:
    """Return an entry's row in the central directory."""
    mode = EXECUTABLE_MODE if entry.executable else PLAIN_MODE
    sizes = (entry.crc, entry.size, entry.size, len(entry.name), 0, 0, 0, 0, mode << 16, entry.offset)
    return (
        CENTRAL.pack(CENTRAL_SIGNATURE, VERSION_MADE, VERSION_NEEDED, FLAG_UTF8, STORED, TIME, DATE, *sizes)
        + entry.name
    )


def dump_end(count: int, directory_size: int, directory_offset: int) -> bytes:
    """Return the end record."""
    return END.pack(END_SIGNATURE, 0, 0, count, count, directory_size, directory_offset, 0)
