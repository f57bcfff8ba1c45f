"""One header block of a tar: 512 bytes to values. Numbers are plain octal; what some readers read otherwise is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from market.pack.foreign import refuse

BLOCK = 512

_OCTAL = re.compile(rb" *([0-7]+)[ \0]*")
_UNUSED = {"owner": (108, 8), "group": (116, 8), "time": (136, 12), "device": (329, 8), "minor device": (337, 8)}
_BASE_256 = (0x80, 0xFF)
_USTAR, _GNU, _OLD = b"ustar\x0000", b"ustar  \0", bytes(8)


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says. `name` is the raw bytes, a prefix joined; `short_name` those of the name's own field."""

    name: bytes
    short_name: bytes
    kind: bytes
    size: int
    mode: int

    @property
    def shown(self) -> str:
        """The name for a message."""
        return self.name.decode("utf-8", "backslashreplace")


def parse_header(block: bytes) -> Header:
    """Read a header block; raises `Untrusted`."""
    name, kind, magic = _text(block, 0, 100), block[156:157], block[257:265]
    shown = name.decode("utf-8", "backslashreplace")
    # The checksum counts its own field as spaces.
    if sum(block[:148]) + sum(block[156:]) + 8 * 0x20 != _number(block, 148, 8, "tar-checksum", shown):
        raise refuse("tar-checksum", f"the checksum of {shown!r} is wrong")
    if magic not in (_USTAR, _GNU, _OLD):
        raise refuse("tar-header", f"{shown!r} has the unknown format {magic!r}")
    _check_unused(block, shown)
    prefix = _text(block, 345, 155) if magic == _USTAR else b""
    if prefix and not name:
        raise refuse("tar-header", f"an entry in {prefix.decode('utf-8', 'backslashreplace')!r} has no name")
    size = _number(block, 124, 12, "tar-size", shown)
    mode = _number(block, 100, 8, "tar-header", shown) & 0o7777
    return Header(prefix + b"/" + name if prefix else name, name, kind, size, mode)


def _text(block: bytes, start: int, length: int) -> bytes:
    """Return a field up to its NUL. Bytes behind it would be read by some and not by others."""
    text, _, rest = block[start : start + length].partition(b"\0")
    if any(rest):
        raise refuse("tar-header", f"bytes stand behind the end of the name {text!r}")
    return text


def _check_unused(block: bytes, shown: str) -> None:
    """Demand that the numbers which aren't taken over can be read: others stop at such a header and show a shorter archive."""
    for what, (start, length) in _UNUSED.items():
        field = block[start : start + length]
        if field.strip(b" \0") and field[0] not in _BASE_256 and not _OCTAL.fullmatch(field):
            raise refuse("tar-header", f"{shown!r} has {field!r} as its {what}")


def _number(block: bytes, start: int, length: int, rule: str, shown: str) -> int:
    field = block[start : start + length]
    match = _OCTAL.fullmatch(field)
    if not match:
        raise refuse(rule, f"{shown!r} has {field!r} where an octal number belongs")
    return int(match[1], 8)
