"""The second name that an entry of a tar may have, from a PAX header or GNU's long name, held against its first one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.pack.foreign import refuse

if TYPE_CHECKING:
    from market.pack.tar_header import Header

SHORT_NAME_BYTES = 100

_CHANGES_READING = ("hdrcharset", "GNU.sparse.", "SCHILY.realsize")


@dataclass(frozen=True, slots=True)
class Override:
    """What an extended header says of the entry after it; None where it says nothing. `is_prefix`: the short name must begin it."""

    path: bytes | None = None
    size: int | None = None
    is_prefix: bool = False


def read_long_name(content: bytes) -> Override:
    """Read GNU's long name: one NUL at the end and none within."""
    name, _, rest = content.partition(b"\0")
    if not name or any(rest):
        raise refuse("tar-name", "a long name is empty or has bytes behind its end")
    return Override(name, is_prefix=True)


def read_pax(content: bytes) -> Override:
    """Read a PAX header; times, owners and comments aren't used."""
    fields = _parse_pax(content)
    for key in fields:
        if key.startswith(_CHANGES_READING):
            rule = "tar-sparse" if "sparse" in key or "real" in key else "tar-attributes"
            raise refuse(rule, f"an extended header holds {key!r}")
    if "linkpath" in fields:
        raise refuse("archive-link", "an extended header names a link's target")
    size = fields.get("size")
    if size is not None and not (size.isdigit() and len(size) < 20):
        raise refuse("tar-size", f"an extended header gives the size {size!r}")
    return Override(fields.get("path"), int(size) if size is not None else None)


def check_global(content: bytes) -> None:
    """Raise `Untrusted` where a global header says more than a comment, as git's does."""
    if keys := _parse_pax(content).keys() - {"comment"}:
        raise refuse("tar-global", f"a global header sets {', '.join(sorted(keys))}")


def check_name(header: Header, override: Override | None) -> str:
    """Return an entry's name; raises `Untrusted` where two sources of it, or of its size, can't both be right."""
    if override is None:
        return _decode(header.name)
    if override.size is not None and override.size != header.size:
        raise refuse("tar-size", f"{header.shown!r} has {header.size} bytes, or {override.size}")
    if override.path is None:
        return _decode(header.name)
    if b"\0" in override.path:
        raise refuse("tar-name", "an extended header's name holds a NUL")
    if override.is_prefix:
        agrees = override.path.startswith(header.name)
    else:
        # Writers shorten a name that doesn't fit in many ways; one that fits has no reason to differ.
        fits = len(override.path) <= SHORT_NAME_BYTES and override.path.isascii()
        agrees = not fits or override.path.rstrip(b"/") == header.name.rstrip(b"/")
    if not agrees:
        raise refuse("tar-name", f"an entry is called {header.shown!r} and {_decode(override.path)!r}")
    return _decode(override.path)


def _decode(name: bytes) -> str:
    # What isn't UTF-8 becomes surrogates, which the rules for paths refuse by name.
    return name.decode("utf-8", "surrogateescape")


def _parse_pax(content: bytes) -> dict[str, bytes]:
    """Read the records: length, blank, `KEY=VALUE`, line feed. The length counts all of itself."""
    fields: dict[str, bytes] = {}
    at = 0
    while at < len(content):
        digits = content[at : at + 6].partition(b" ")[0]
        length = int(digits) if digits.isdigit() else 0
        record = content[at : at + length]
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        text = key.decode("utf-8", "backslashreplace")
        if len(record) != length or not record.endswith(b"\n") or not equals or not key or text in fields:
            raise refuse("tar-attributes", f"an extended header can't be read at byte {at}, or repeats {text!r}")
        fields[text] = value
        at += length
    return fields
