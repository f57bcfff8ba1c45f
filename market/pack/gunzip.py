"""Decompressing one gzip stream with limits on the bytes really produced. Exactly one stream, and nothing after it."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO

from market.pack.foreign import check_ratio, refuse
from market.pack.zip_format import MAX_ARCHIVE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

GZIP_SIGNATURE = b"\x1f\x8b"
# The files of a tar and its headers, which are up to 2.5 KB an entry.
MAX_TAR_BYTES = MAX_ARCHIVE_BYTES + (48 << 20)
CHUNK_BYTES = 64 << 10

_GZIP_ONLY = 16 + zlib.MAX_WBITS


def gunzip(stream: BinaryIO, out: BinaryIO) -> int:
    """Write what a gzip stream decompresses to into `out` and return its size in bytes; raises `Untrusted`."""
    produced = 0
    for piece in _inflate(stream):
        produced += len(piece)
        if produced > MAX_TAR_BYTES:
            raise refuse("archive-too-large", f"the archive becomes more than {MAX_TAR_BYTES:,} bytes")
        check_ratio(produced, stream.tell(), "the archive")
        out.write(piece)
    return produced


def _inflate(stream: BinaryIO) -> Iterator[bytes]:
    inflater = zlib.decompressobj(_GZIP_ONLY)
    while not inflater.eof:
        pending = inflater.unconsumed_tail or stream.read(CHUNK_BYTES)
        try:
            piece = inflater.decompress(pending, CHUNK_BYTES)
        except zlib.error as error:
            rule = "archive-crc" if "check" in str(error) else "gzip-broken"
            raise refuse(rule, f"the archive can't be decompressed: {error}") from None
        if not pending and not piece and not inflater.eof:
            raise refuse("archive-truncated", "the compressed bytes end too early")
        yield piece
    rest = inflater.unused_data + stream.read(1)
    if rest.startswith(GZIP_SIGNATURE[:1]):
        raise refuse("gzip-members", "a second compressed stream follows the first")
    if rest:
        raise refuse("gzip-trailing", "bytes follow the compressed stream")
