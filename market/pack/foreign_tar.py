"""Reading a tar that another program made, plain or gzipped: regular files and folders, whose names all readers read alike.

Not `tarfile`: it skips what it can't read, and its extraction filter could be left on several Python versions. Links of both kinds,
devices, sparse files and everything else that isn't a file is refused, as is any byte that belongs to no entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.pack.foreign import MAX_MEMBERS, Foreign, Member, check_total, refuse
from market.pack.tar_header import BLOCK, Header, parse_header
from market.pack.tar_names import Override, check_global, check_name, read_long_name, read_pax
from market.pack.zip_format import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

# No path may be longer than 240 bytes, and an extended header holds little else.
MAX_EXTENDED_BYTES = 64 << 10

_REGULAR = frozenset({b"0", b"\0"})
_FOLDER = b"5"
_OLD_REGULAR = b"\0"  # before there were types, a slash at the end made a folder
_PAX, _PAX_GLOBAL, _LONG_NAME, _LONG_LINK = b"x", b"g", b"L", b"K"
_REFUSED = {
    b"1": ("archive-hard-link", "a hard link"),
    b"2": ("archive-link", "a symbolic link"),
    b"3": ("archive-special", "a character device"),
    b"4": ("archive-special", "a block device"),
    b"6": ("archive-special", "a pipe"),
    b"S": ("tar-sparse", "a sparse file"),
    b"7": ("tar-type", "a contiguous file"),
    b"M": ("tar-type", "a piece of another volume"),
}


def read_foreign_tar(stream: BinaryIO, form: str) -> Foreign:
    """Return what is in an uncompressed tar; raises `Untrusted`. `stream` must stay open while files are read."""
    members = tuple(_Reader(stream).members())
    if not members:
        raise refuse("archive-empty", "the archive holds no files")
    check_total(sum(member.size for member in members))

    def read(member: Member) -> bytes:
        stream.seek(member.mark)
        content = stream.read(member.size)
        if len(content) != member.size:
            raise refuse("archive-truncated", f"{member.path!r} ends too early", member.path)
        return content

    return Foreign(form, members, read, ())


@dataclass
class _Reader:
    """Goes through a tar block by block. `stream` stands at the next block whenever a method returns."""

    stream: BinaryIO

    def members(self) -> Iterator[Member]:
        self.size = self.stream.seek(0, 2)
        self.stream.seek(0)
        override: Override | None = None
        count = 0
        while (header := self._next_header()) is not None:
            if header.kind == _PAX_GLOBAL:
                check_global(self._content(header))
            elif header.kind in (_PAX, _LONG_NAME, _LONG_LINK):
                if override is not None:
                    raise refuse("tar-chain", f"two extended headers stand before {header.shown!r}")
                override = self._override(header)
            else:
                count += 1
                if count > MAX_MEMBERS:
                    raise refuse("archive-too-many", f"the archive holds more than {MAX_MEMBERS:,} entries")
                yield self._member(header, override)
                override = None
        if override is not None:
            raise refuse("tar-chain", "an extended header stands before nothing")

    def _next_header(self) -> Header | None:
        """Return the next header, or None at the end, which is two empty blocks and then nothing but zeros."""
        block = self.stream.read(BLOCK)
        if len(block) < BLOCK:
            raise refuse("tar-end", "the archive has no end")
        if any(block):
            return parse_header(block)
        if len(second := self.stream.read(BLOCK)) < BLOCK or any(second):
            raise refuse("tar-end", "the archive ends with one empty block, not two")
        while piece := self.stream.read(1 << 16):
            if any(piece):
                raise refuse("tar-trailing", "bytes follow the end")
        return None

    def _override(self, header: Header) -> Override:
        if header.kind == _LONG_LINK:
            raise refuse("archive-link", "a link with a long target")
        content = self._content(header)
        return read_pax(content) if header.kind == _PAX else read_long_name(content)

    def _content(self, header: Header) -> bytes:
        if header.size > MAX_EXTENDED_BYTES:
            raise refuse("tar-attributes", f"an extended header has {header.size:,} bytes")
        return self.stream.read(self._skip(header, rewind=True))[: header.size]

    def _member(self, header: Header, override: Override | None) -> Member:
        path = check_name(header, override)
        if header.kind in _REFUSED:
            rule, what = _REFUSED[header.kind]
            raise refuse(rule, f"{path!r} is {what}", path)
        is_folder = header.kind == _FOLDER or (header.kind == _OLD_REGULAR and path.endswith("/"))
        if header.kind == b"0" and path.endswith("/"):
            raise refuse("archive-folder", f"{path!r} is a file with the name of a folder", path)
        if not is_folder and header.kind not in _REGULAR:
            raise refuse("tar-type", f"{path!r} has the unknown type {header.kind!r}", path)
        if is_folder and header.size:
            raise refuse("archive-folder", f"{path!r} is a folder with content", path)
        if is_folder and not header.mode & 0o700:
            raise refuse("tar-folder-mode", f"the folder {path!r} has the mode {header.mode:04o}", path)
        if header.size > MAX_FILE_BYTES:
            raise refuse(
                "archive-file-too-large", f"{path!r} has {header.size:,} bytes, more than {MAX_FILE_BYTES:,}", path
            )
        start = self.stream.tell()
        self._skip(header)
        return Member(path.rstrip("/"), is_folder, header.size, header.mode, start)

    def _skip(self, header: Header, *, rewind: bool = False) -> int:
        """Go past an entry's bytes and the zeros that fill its last block; return how many bytes both are."""
        start = self.stream.tell()
        length = -(-header.size // BLOCK) * BLOCK
        if start + length > self.size:
            raise refuse("archive-truncated", f"{header.shown!r} reaches beyond the end")
        self.stream.seek(start + header.size)
        if any(self.stream.read(length - header.size)):
            raise refuse("tar-padding", f"bytes stand in the padding of {header.shown!r}")
        if rewind:
            self.stream.seek(start)
        return length
