"""Archives as other programs write them, by hand: each maker imitates one, with the odd things that it really does."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING

from tests.factories import a_skill_json, a_skill_md
from tests.pack.hostile import Member, forge

if TYPE_CHECKING:
    from collections.abc import Mapping

UNIX, DOS = 3, 0
APPLE_DOUBLE = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        " + bytes(60)
RUN = b"#!/bin/sh\ncat\n"
TIMES = b"UT\x09\x00\x03" + struct.pack("<LL", 1_700_000_000, 1_700_000_000)
COMMIT = b"0123456789abcdef0123456789abcdef01234567"


def deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush()


def deflated(name: bytes, content: bytes = b"", mode: int | None = 0o644, **changes: int) -> Member:
    """A deflated entry with its descriptor behind it, as programs that stream write them; mode None is a program on DOS."""
    data = deflate(content)
    numbers = {"crc": zlib.crc32(content), "stored": len(data), "size": len(content)}
    made, external = (UNIX << 8 | 21, (stat.S_IFREG | mode) << 16) if mode is not None else (20, 0x20)
    both = {"flags": 0x8, "method": 8, "time": 0x6000, "date": 0x5821, **numbers, **changes}
    after = struct.pack("<4s3L", b"PK\7\10", *numbers.values())
    local = {"crc": 0, "stored": 0, "size": 0} if both["flags"] & 8 else {}
    central = {"made": made, "external": external}
    return Member(name, data, both, local, central, TIMES, TIMES, after=after if both["flags"] & 8 else b"")


def folder(name: bytes) -> Member:
    """A folder's entry."""
    return Member(name, b"", {"flags": 0}, central={"external": (stat.S_IFDIR | 0o755) << 16 | 0x10})


def finder_zip() -> bytes:
    """Compress in the Finder: a folder, descriptors, resource forks in `__MACOSX`, decomposed names without the mark."""
    return forge(
        folder(b"date-tools/"),
        deflated(b"date-tools/SKILL.md", a_skill_md("date-tools")),
        deflated(b"__MACOSX/date-tools/._SKILL.md", APPLE_DOUBLE),
        deflated(b"date-tools/.DS_Store", b"\0\0\0\1Bud1" + bytes(40)),
        folder(b"date-tools/scripts/"),
        deflated(b"date-tools/scripts/run.sh", RUN, 0o755),
        deflated("date-tools/cafe\u0301.txt".encode(), b"latte"),
        deflated(b"date-tools/.config/rules.yaml", b"keep: true\n"),
    )


def windows_zip() -> bytes:
    """Send to compressed folder, and PowerShell before it learned slashes: no modes, backslashes, names in the code page."""
    return forge(
        deflated(b"report-kit\\skill.json", a_skill_json(entry="bin/run.sh"), None, flags=0),
        deflated(b"report-kit\\bin\\run.sh", RUN, None, flags=0),
        deflated(b"report-kit\\b\x81ro.txt", b"x", None, flags=0),
    )


def github_zip() -> bytes:
    """A repository from a code forge: wrapper folder, the commit in the comment, times in extra fields."""
    files = (
        folder(b"tool-1.2.0/"),
        deflated(b"tool-1.2.0/README.md", b"hello", flags=0),
        deflated(b"tool-1.2.0/SKILL.md", a_skill_md("tool"), flags=0),
    )
    return forge(*files, comment=len(COMMIT), after_end=COMMIT)


def python_zip(files: Mapping[str, bytes], modes: Mapping[str, int] | None = None) -> bytes:
    """What `zipfile` writes, with its default modes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, (2024, 1, 2, 3, 4, 6))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (modes or {}).get(name, 0o600) << 16
            archive.writestr(info, content)
    return out.getvalue()


def tar(
    files: Mapping[str, bytes],
    modes: Mapping[str, int] | None = None,
    *,
    kind: int = tarfile.PAX_FORMAT,
    folders: tuple[str, ...] = (),
    comment: str = "",
) -> bytes:
    """What `tarfile` writes in one of its formats; a comment goes into a global header, as git's."""
    out = io.BytesIO()
    with tarfile.open(
        fileobj=out, mode="w", format=kind, pax_headers={"comment": comment} if comment else None
    ) as archive:
        for name in folders:
            info = tarfile.TarInfo(name)
            info.type, info.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), (modes or {}).get(name, 0o644)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def tar_gz(files: Mapping[str, bytes], modes: Mapping[str, int] | None = None, **options: object) -> bytes:
    return gzip.compress(tar(files, modes, **options), mtime=0)  # type: ignore[arg-type]


def github_tarball() -> bytes:
    """A repository's tarball: wrapper folder, the commit in a global header."""
    files = {"tool-1.2.0/README.md": b"hello", "tool-1.2.0/SKILL.md": a_skill_md("tool"), "tool-1.2.0/run.sh": RUN}
    return tar_gz(files, {"tool-1.2.0/run.sh": 0o775}, folders=("tool-1.2.0/",), comment=COMMIT.decode())
