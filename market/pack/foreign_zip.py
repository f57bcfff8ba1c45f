"""Reading a zip that another program made: deflated, with folders' entries, extra fields and descriptors, but nothing ambiguous.

Local headers and the directory must agree, ranges must touch without gap, and every byte belongs to something. Zip64 is refused,
as no pack is large enough for it. Sizes and checksums are held against the bytes really produced whenever a file is read.
"""

from __future__ import annotations

import stat
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.pack.archive_directory import read_directory
from market.pack.foreign import MAX_MEMBERS, Foreign, Member, check_ratio, check_total, refuse, refuse_all
from market.pack.import_names import decode_zip_name
from market.pack.rules import make_problem
from market.pack.zip_format import (
    FLAG_DESCRIPTOR,
    FLAG_UTF8,
    FLAGS_ENCRYPTED,
    LOCAL,
    LOCAL_SIGNATURE,
    MAX_FILE_BYTES,
    STORED,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.pack.archive_directory import Row

# GitHub's archives carry a commit's 40 digits as comment.
MAX_COMMENT_BYTES = 1024
DEFLATED = 8
MAX_VERSION_NEEDED = 46  # what unzip reads; newer versions are for methods and sizes that no pack needs

_FLAGS_LEVEL = 0x2 | 0x4
_DESCRIPTOR = struct.Struct("<3L")
_DESCRIPTOR_SIGNATURE = b"PK\x07\x08"
_EXTRA = struct.Struct("<2H")
_EXTRA_ZIP64, _EXTRA_AES, _EXTRA_UNICODE_PATH = 0x0001, 0x9901, 0x7075
_LARGE = 0xFFFFFFFF
_DOS_SYSTEMS = frozenset({0, 10, 14})  # FAT, Windows, VFAT
_DOS_FOLDER = 0x10


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry's bytes are: `end` is behind its descriptor, where the next entry starts."""

    start: int
    end: int


def read_foreign_zip(stream: BinaryIO) -> Foreign:
    """Return what is in a zip; raises `Untrusted` with every problem. `stream` must stay open while files are read."""
    directory = read_directory(stream, max_comment_bytes=MAX_COMMENT_BYTES, max_rows=MAX_MEMBERS)
    decoded = [decode_zip_name(row.name, bool(row.flags & FLAG_UTF8), _is_dos(row)) for row in directory.rows]
    rows = [(row, name.path) for row, name in zip(directory.rows, decoded, strict=True)]
    problems = [make_problem(rule, text, path) for row, path in rows for rule, text in _find_faults(row, path)]
    if problems:
        raise refuse_all(problems)
    places = _check_ranges(stream, rows, directory.offset)
    members = tuple(_make_member(row, path, number) for number, (row, path) in enumerate(rows))
    check_total(sum(member.size for member in members))
    check_ratio(sum(row.size for row, _ in rows), directory.offset, "the archive")

    def read(member: Member) -> bytes:
        return _read_file(stream, directory.rows[member.mark], places[member.mark], member.path)

    changes = [change for name in decoded for change in name.changes]
    return Foreign("zip", members, read, tuple(changes))


def _is_dos(row: Row) -> bool:
    return row.made >> 8 in _DOS_SYSTEMS


def _make_member(row: Row, path: str, number: int) -> Member:
    mode = row.external >> 16
    return Member(path.rstrip("/"), path.endswith("/"), row.size, stat.S_IMODE(mode) if mode else None, number)


def _find_faults(row: Row, path: str) -> Iterator[tuple[str, str]]:
    if row.flags & FLAGS_ENCRYPTED:
        yield "archive-encrypted", f"{path!r} is encrypted"
    elif row.flags & ~(FLAG_DESCRIPTOR | FLAG_UTF8 | _FLAGS_LEVEL):
        yield "archive-header", f"{path!r} has the unknown flags {row.flags:#x}"
    if row.needed & 0xFF > MAX_VERSION_NEEDED:
        yield "archive-header", f"{path!r} needs version {row.needed & 0xFF} of the format"
    if row.method not in (STORED, DEFLATED):
        yield "archive-method", f"{path!r} is compressed with method {row.method}"
    if row.disk:
        yield "archive-multi-disk", f"{path!r} is on another disk"
    if _LARGE in (row.size, row.stored_size, row.offset):
        yield "archive-zip64", f"{path!r} has a zip64 size"
    elif row.method == STORED and row.size != row.stored_size:
        yield "archive-size", f"{path!r} claims {row.size} bytes and stores {row.stored_size}"
    elif row.size > MAX_FILE_BYTES:
        yield "archive-file-too-large", f"{path!r} has {row.size:,} bytes, more than {MAX_FILE_BYTES:,}"
    elif row.method == STORED and row.size and row.flags & FLAG_DESCRIPTOR:
        yield "archive-descriptor", f"{path!r} is stored, and its size comes after its bytes"
    yield from _find_extra_faults(row.extra, path)
    yield from _find_type_faults(row, path)


def _find_type_faults(row: Row, path: str) -> Iterator[tuple[str, str]]:
    kind = stat.S_IFMT(row.external >> 16)
    if kind == stat.S_IFLNK:
        yield "archive-link", f"{path!r} is a symbolic link"
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "archive-special", f"{path!r} is a device, pipe or socket"
    elif path.endswith("/") and (kind == stat.S_IFREG or row.size):
        yield "archive-folder", f"{path!r} is a folder with content"
    elif not path.endswith("/") and (kind == stat.S_IFDIR or row.external & _DOS_FOLDER):
        yield "archive-folder", f"{path!r} is a folder with the name of a file"


def _find_extra_faults(extra: bytes, path: str) -> Iterator[tuple[str, str]]:
    """Look through extra fields: a second name or size is refused, times and owners aren't used."""
    seen: set[int] = set()
    at = 0
    while at < len(extra):
        if at + _EXTRA.size > len(extra):
            yield "archive-extra", f"the extra fields of {path!r} can't be read"
            return
        field, size = _EXTRA.unpack_from(extra, at)
        at += _EXTRA.size + size
        if at > len(extra) or field in seen:
            yield "archive-extra", f"the extra fields of {path!r} can't be read, or one stands twice"
            return
        seen.add(field)
    if _EXTRA_ZIP64 in seen:
        yield "archive-zip64", f"{path!r} has zip64 sizes"
    if _EXTRA_AES in seen:
        yield "archive-encrypted", f"{path!r} is encrypted"
    if _EXTRA_UNICODE_PATH in seen:
        yield "archive-extra", f"{path!r} has a second name"


def _check_ranges(stream: BinaryIO, rows: Sequence[tuple[Row, str]], directory_offset: int) -> dict[int, _Place]:
    """Demand that entries, in the order of their offsets, fill the bytes from 0 to the directory."""
    places: dict[int, _Place] = {}
    expected = 0
    for number in sorted(range(len(rows)), key=lambda number: rows[number][0].offset):
        row, path = rows[number]
        if row.offset != expected:
            rule = "archive-overlap" if row.offset < expected else "archive-gap" if expected else "archive-prefix"
            raise refuse(rule, f"{path!r} starts at byte {row.offset}, not at {expected}", path)
        places[number] = _find_place(stream, row, path)
        expected = places[number].end
    if expected != directory_offset:
        rule = "archive-gap" if expected < directory_offset else "archive-overlap"
        raise refuse(rule, f"the entries end at byte {expected}, the directory starts at {directory_offset}")
    return places


def _find_place(stream: BinaryIO, row: Row, path: str) -> _Place:
    """Read an entry's own header, hold it against its row, and return where its bytes are."""
    stream.seek(row.offset)
    head = stream.read(LOCAL.size)
    if len(head) < LOCAL.size or not head.startswith(LOCAL_SIGNATURE):
        raise refuse("archive-mismatch", f"{path!r} has no header of its own", path)
    _, _, flags, method, _, _, crc, stored, size, name_length, extra_length = LOCAL.unpack(head)
    name, extra = stream.read(name_length), stream.read(extra_length)
    agreed = (row.crc, row.stored_size, row.size)
    # A writer that streams doesn't know sizes yet, writes zeros, and puts them behind the bytes.
    own = (crc, stored, size)
    is_streamed = bool(row.flags & FLAG_DESCRIPTOR) and not any(own)
    if (name, flags, method) != (row.name, row.flags, row.method) or not (own == agreed or is_streamed):
        raise refuse("archive-mismatch", f"the two headers of {path!r} differ", path)
    faults = [make_problem(rule, text, path) for rule, text in _find_extra_faults(extra, path)]
    if faults:
        raise refuse_all(faults)
    start = row.offset + LOCAL.size + name_length + extra_length
    end = start + row.stored_size
    return _Place(start, end + (_descriptor_size(stream, end, row, path) if row.flags & FLAG_DESCRIPTOR else 0))


def _descriptor_size(stream: BinaryIO, at: int, row: Row, path: str) -> int:
    """Return how long the descriptor behind an entry is: its signature is optional, its three numbers must be the row's."""
    stream.seek(at)
    found = stream.read(len(_DESCRIPTOR_SIGNATURE) + _DESCRIPTOR.size)
    wanted = _DESCRIPTOR.pack(row.crc, row.stored_size, row.size)
    if found == _DESCRIPTOR_SIGNATURE + wanted:
        return len(found)
    if found.startswith(wanted):
        return len(wanted)
    raise refuse("archive-descriptor", f"what follows the bytes of {path!r} disagrees with the directory", path)


def _read_file(stream: BinaryIO, row: Row, place: _Place, path: str) -> bytes:
    """Return a file's bytes, never more than it declares; raises `Untrusted` where size or checksum are others."""
    check_ratio(row.size, row.stored_size, repr(path))
    stream.seek(place.start)
    stored = stream.read(row.stored_size)
    content = stored if row.method == STORED else _inflate(stored, row.size, path)
    if len(content) != row.size:
        raise refuse("archive-size", f"{path!r} claims {row.size} bytes and has another size", path)
    if zlib.crc32(content) != row.crc:
        raise refuse("archive-crc", f"the checksum of {path!r} is wrong", path)
    return content


def _inflate(stored: bytes, size: int, path: str) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        # One byte more than declared is enough to know that it lies.
        content = inflater.decompress(stored, size + 1)
    except zlib.error as error:
        raise refuse("archive-crc", f"{path!r} can't be decompressed: {error}", path) from None
    if not inflater.eof or inflater.unused_data:
        raise refuse("archive-size", f"the compressed bytes of {path!r} don't end where they should", path)
    return content
