"""The bytes of a manifest as text, with places: one BOM and any line ends are accepted, the bytes themselves are never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.pack.rules import make_problem

if TYPE_CHECKING:
    from market.errors import Problem
    from market.pack.source import Source, SourceFile

MAX_MANIFEST_BYTES = 1 << 20

_BOM = b"\xef\xbb\xbf"
_CONTINUATION = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class ManifestText:
    """A manifest's text without its BOM, every line end a line feed. `problems` is not empty where it can't be read."""

    text: str
    problems: tuple[Problem, ...] = ()


def parse_text(data: bytes, file: str) -> ManifestText:
    """Decode a manifest; a file that is too large or not UTF-8 gives one problem and no text."""
    if len(data) > MAX_MANIFEST_BYTES:
        return ManifestText(
            "",
            (make_problem("file-too-large", f"{file} has more than {MAX_MANIFEST_BYTES:,} bytes", file),),
        )
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        bad = f"byte 0x{error.object[error.start]:02X} is not UTF-8"
        return ManifestText("", (make_problem("text-encoding", bad, file, _find_place(error.object[: error.start])),))
    return ManifestText(text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text)


def read_manifest(source: Source, file: SourceFile) -> bytes:
    """Read a manifest, but of one that is too large only as much as shows it."""
    if file.size <= MAX_MANIFEST_BYTES:
        return source.read(file.path)
    with source.open(file.path) as stream:
        return stream.read(MAX_MANIFEST_BYTES + 1)


def find_place(text: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an offset into a text."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def find_byte_place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line and column, in characters, of an offset into bytes that may be no text at all."""
    start = data.rfind(b"\n", 0, offset) + 1
    # Counting what begins a character is a hundred times cheaper than decoding a line that has no end.
    return data.count(b"\n", 0, start) + 1, len(data[start:offset].translate(None, _CONTINUATION)) + 1


def _find_place(before: bytes) -> tuple[int, int]:
    return before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
