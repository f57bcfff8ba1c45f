"""Changed archives, from a seed: blind changes of bytes, and changes that know the format and so come further into a reader."""

from __future__ import annotations

import io
import struct
import tarfile
from typing import TYPE_CHECKING

from market.pack.archive_read import read_archive
from market.pack.archive_write import write_archive
from market.pack.import_names import find_junk
from market.pack.paths import check_path, find_collisions
from market.pack.source import MemorySource
from tests.factories import a_skill_md
from tests.pack.foreign_makers import finder_zip, github_tarball, github_zip, python_zip, tar, tar_gz, windows_zip

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from market.pack.record import Record

LETTERS = "abcXYZ019_-. é技☃"
SIGNATURES = (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\7\10", b"ustar", b"\x1f\x8b")
NUMBERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF)
NAMES = (
    b"../x",
    b"/x",
    b"a\\b",
    b"C:x",
    b"con",
    b"a\0b",
    b"x.",
    b"\xff\xfe",
    b"SKILL.md",
    b"skill.md",
    "e\u0301".encode(),
    b".git/x",
)


def a_tree(chance: random.Random) -> MemorySource:
    """A small tree with portable names, always with a good guide at its top."""
    files: dict[str, bytes] = {"SKILL.md": a_skill_md()}
    for _ in range(chance.randrange(1, 7)):
        parts = ["".join(chance.choices(LETTERS, k=chance.randrange(1, 8))) for _ in range(chance.randrange(1, 4))]
        path = "/".join(parts)
        # What the walk over a folder leaves out wouldn't come back from the disk.
        if not check_path(path) and not find_junk(path) and not find_collisions([*files, path]):
            files[path] = chance.randbytes(chance.choice((0, 1, 40, 300)))
    return MemorySource(files, executables=frozenset(path for path in files if chance.random() < 0.3))


def pack(source: MemorySource) -> tuple[bytes, Record]:
    out = io.BytesIO()
    record = write_archive(source, out)
    return out.getvalue(), record


def mutate(archive: bytes, chance: random.Random) -> bytes:
    """Return an archive with one to three changes."""
    changed = bytearray(archive)
    for _ in range(chance.randrange(1, 4)):
        if changed:
            chance.choice(BLIND)(changed, chance)
    return bytes(changed)


def rebuild(archive: bytes, chance: random.Random) -> bytes:
    """Return a canonical archive of another tree: what a clever attacker sends, and what a reader must take."""
    source = read_archive(io.BytesIO(archive))
    files = {file.path: source.read(file.path) for file in source.files()}
    modes = {file.path for file in source.files() if file.executable}
    path = chance.choice(list(files))
    match chance.randrange(5):
        case 0:
            files[path] = chance.randbytes(chance.randrange(300))
        case 1:
            modes ^= {path}
        case 2 if len(files) > 1:
            del files[path]
        case 3:
            files[path + chance.choice("abc")] = files.pop(path)
        case _:
            files |= {one.path: b"x" for one in a_tree(chance).files()}
    if find_collisions(files) or any(check_path(one) for one in files):
        return archive
    return pack(MemorySource(files, executables=frozenset(modes & files.keys())))[0]


def foreign_archives() -> tuple[bytes, ...]:
    """What other programs write, as a start for mutations."""
    files = {"SKILL.md": a_skill_md(), "a/b": b"x" * 700, "n" * 99 + "/é": b"", "run.sh": b"#!/bin/sh\n"}
    tars = (tar(files, kind=kind) for kind in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT))
    return (finder_zip(), windows_zip(), github_zip(), python_zip(files), github_tarball(), tar_gz(files), *tars)


def _flip(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= chance.randrange(1, 256)


def _insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.randbytes(chance.randrange(1, 30))


def _delete(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    del data[at : at + chance.randrange(1, 60)]


def _copy(data: bytearray, chance: random.Random) -> None:
    start, at = chance.randrange(len(data)), chance.randrange(len(data) + 1)
    data[at:at] = data[start : start + chance.randrange(1, 200)]


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def _number(data: bytearray, chance: random.Random) -> None:
    value = chance.choice(NUMBERS) & 0xFFFFFFFF
    piece = chance.choice((struct.pack("<H", value & 0xFFFF), struct.pack("<L", value)))
    at = chance.randrange(len(data))
    data[at : at + len(piece)] = piece


def _field(data: bytearray, chance: random.Random) -> None:
    """Change a byte of a header: there a change has the most meanings."""
    signature = chance.choice(SIGNATURES)
    places = [at for at in range(len(data)) if data.startswith(signature, at)]
    if places:
        at = min(chance.choice(places) + chance.randrange(46), len(data) - 1)
        data[at] = chance.choice((0, 1, 8, 0x80, 0xFF, chance.randrange(256)))


def _signature(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(SIGNATURES)


def _name(data: bytearray, chance: random.Random) -> None:
    """Put a bad name over the same bytes wherever they stand, so that both headers agree."""
    name = chance.choice(NAMES)
    at = chance.randrange(len(data))
    old = bytes(data[at : at + len(name)])
    data[:] = bytes(data).replace(old, name[: len(old)])


def _checksums(data: bytearray, chance: random.Random) -> None:
    """Change a tar's header and put its checksum right."""
    at = chance.randrange(0, len(data), 512)
    block = data[at : at + 512]
    if len(block) == 512 and any(block):
        block[chance.randrange(345)] = chance.choice((0, 0x20, 0x30, 0x37, 0x78, 0xFF, chance.randrange(256)))
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        data[at : at + 512] = block


BLIND: tuple[Callable[[bytearray, random.Random], None], ...] = (
    _flip, _flip, _insert, _delete, _copy, _cut, _number, _field, _field, _signature, _name, _checksums,
)  # fmt: skip
