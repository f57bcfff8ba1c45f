"""Tars made to cheat, as data, and the zips that only an importer could be cheated with. Headers are built by hand, so that nothing is put right."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING

from tests.pack.foreign_makers import deflated, folder
from tests.pack.hostile import ZIP64, Member, forge, unicode_path

if TYPE_CHECKING:
    from collections.abc import Callable

END = bytes(1024)
LONG = b"d" * 60 + b"/" + b"e" * 60
USTAR, GNU = b"ustar\x0000", b"ustar  \0"


def head(
    name: bytes,
    size: int = 0,
    kind: bytes = b"0",
    mode: int = 0o644,
    link: bytes = b"",
    magic: bytes = USTAR,
    prefix: bytes = b"",
    **raw: bytes,
) -> bytes:
    """One header. `raw` replaces the bytes of `size`, `mode` or `checksum`."""
    fields = (
        name.ljust(100, b"\0")[:100], raw.get("mode_field", b"%07o\0" % mode), b"0000000\0", b"0000000\0", raw.get("size_field", b"%011o\0" % size),
        raw.get("time_field", b"00000000000\0"), b" " * 8, kind, link.ljust(100, b"\0"), magic, bytes(80), prefix.ljust(155, b"\0"), bytes(12),
    )  # fmt: skip
    block = b"".join(fields)
    checksum = raw.get("checksum", b"%06o\0 " % sum(block))
    return block[:148] + checksum + block[156:]


def entry(name: bytes = b"SKILL.md", data: bytes = b"hello\n", pad: bytes = b"\0", **options: object) -> bytes:
    """A header and its bytes."""
    size = options.pop("size", len(data))
    return head(name, size, **options) + data + pad * (-len(data) % 512)  # type: ignore[arg-type]


def pax(kind: bytes = b"x", **fields: bytes) -> bytes:
    """An extended header with these records."""
    return entry(b"PaxHeader", b"".join(record(key, value) for key, value in fields.items()), kind=kind)


def record(key: str, value: bytes) -> bytes:
    body = b" " + key.replace("__", ".").encode() + b"=" + value + b"\n"
    length = len(body) + 1
    while length != len(body) + len(str(length)):
        length += 1
    return str(length).encode() + body


def long_name(name: bytes, kind: bytes = b"L") -> bytes:
    return entry(b"././@LongLink", name + b"\0", kind=kind, magic=GNU)


def whole(*parts: bytes, end: bytes = END) -> Callable[[], bytes]:
    return lambda: b"".join(parts) + end


def zipped(*parts: bytes, end: bytes = END) -> Callable[[], bytes]:
    return lambda: gzip.compress(b"".join(parts) + end, mtime=0)


def named(name: bytes) -> Callable[[], bytes]:
    return whole(entry(), entry(name, b"evil\n"))


def link(target: bytes, through: bytes = b"") -> Callable[[], bytes]:
    """A symbolic link, and a file that would be written through it."""
    return whole(entry(), head(b"out", kind=b"2", link=target), *([entry(through, b"evil\n")] if through else []))


def filter_escape() -> bytes:
    """The chain of links past PATH_MAX that leaves the destination of `tarfile` with its filter `data` (CVE-2025-4517), to a harmless place."""
    parts, path = [entry()], ""
    steps = "abcdefghijklmnop"
    for step in steps:
        folder_name = (path + "d" * 247).encode()
        parts += [
            long_name(folder_name),
            head(folder_name[:100], kind=b"5", mode=0o755, magic=GNU),
            _long_link(path + step, b"d" * 247),
        ]
        path += "d" * 247 + "/"
    chain = "/".join(steps) + "/" + "l" * 254
    parts += [
        _long_link(chain, b"../" * len(steps)),
        _long_link("escape", f"{chain}/..".encode()),
        entry(b"escape/evil", b"evil\n"),
    ]
    return b"".join(parts) + END


def _long_link(name: str, target: bytes) -> bytes:
    longs = (long_name(target, b"K") if len(target) > 99 else b"") + (
        long_name(name.encode()) if len(name) > 99 else b""
    )
    return longs + head(name.encode()[:100], kind=b"2", mode=0o777, link=target[:100], magic=GNU)


def bomb() -> bytes:
    return gzip.compress(entry(data=bytes(30 << 20)) + END, mtime=0)


def zip_bomb() -> bytes:
    return forge(deflated(b"SKILL.md", bytes(30 << 20)))


def half_descriptor() -> bytes:
    good = deflated(b"SKILL.md", b"hello\n")
    return forge(Member(good.name, good.data, good.both, good.local, good.central, after=good.after[:-1] + b"\1"))


GZIPPED = gzip.compress(entry() + END, mtime=0)
TWICE = struct.pack("<HH", 0x5455, 0) * 2

TARS: tuple[tuple[str, Callable[[], bytes], str], ...] = (
    # names
    ("parent", named(b"../evil"), "path-parts"),
    ("parent inside", named(b"a/../../evil"), "path-parts"),
    ("absolute", named(b"/market-hazard/evil"), "path-absolute"),
    ("empty name", named(b""), "path-parts"),
    ("drive", named(b"C:/evil"), "path-colon"),
    ("backslash", named(b"a\\b"), "path-backslash"),
    ("line feed", named(b"a\n.txt"), "path-control"),
    ("right to left", named("a\u202egpj.exe".encode()), "path-invisible"),
    ("not UTF-8", named(b"caf\xe9"), "path-encoding"),
    ("long path", whole(long_name(b"d" * 101), entry(b"d" * 100, magic=GNU)), "path-long"),
    ("deep", named(b"a/" * 17 + b"b"), "path-deep"),
    ("trailing dot", named(b"a."), "path-ending"),
    ("device", named(b"con"), "path-reserved"),
    ("option", named(b"-rf"), "path-leading"),
    ("receipts", named(b".market/receipts/x.json"), "path-forbidden"),
    ("git in capitals", named(b".GIT/config"), "path-forbidden"),
    ("parent in a PAX path", whole(entry(), pax(path=b"\xc3\xa9/../../evil"), entry(b"e")), "path-parts"),
    ("bytes behind the name", named(b"a\0b"), "tar-header"),
    # names against each other
    ("duplicate", whole(entry(), entry(data=b"evil\n")), "path-duplicate"),
    ("case", named(b"skill.md"), "path-collision"),
    ("decomposed twin", whole(entry("caf\u00e9".encode()), entry("cafe\u0301".encode())), "path-duplicate"),
    ("file and folder", whole(entry(b"a"), head(b"a/", kind=b"5", mode=0o755)), "path-file-and-folder"),
    ("file below a file", whole(entry(b"a"), entry(b"a/b")), "path-file-and-folder"),
    # types
    ("symbolic link out", link(b"../outside", b"out/evil"), "archive-link"),
    ("symbolic link inside", link(b"SKILL.md"), "archive-link"),
    ("link with a long target", whole(long_name(b"t" * 120, b"K"), head(b"a", kind=b"2")), "archive-link"),
    ("link in a PAX header", whole(pax(linkpath=b"../outside"), head(b"a", kind=b"2")), "archive-link"),
    ("chain past PATH_MAX", filter_escape, "archive-link"),
    ("hard link", whole(entry(), head(b"a", kind=b"1", link=b"SKILL.md")), "archive-hard-link"),
    ("hard link out", whole(entry(), head(b"a", kind=b"1", link=b"../outside")), "archive-hard-link"),
    ("character device", whole(entry(), head(b"a", kind=b"3")), "archive-special"),
    ("block device", whole(entry(), head(b"a", kind=b"4")), "archive-special"),
    ("pipe", whole(entry(), head(b"a", kind=b"6")), "archive-special"),
    ("contiguous", whole(entry(), entry(b"a", kind=b"7")), "tar-type"),
    ("another volume", whole(entry(), entry(b"a", kind=b"M")), "tar-type"),
    ("unknown type", whole(entry(), entry(b"a", kind=b"Z")), "tar-type"),
    ("sparse, GNU", whole(entry(), entry(b"a", kind=b"S", magic=GNU)), "tar-sparse"),
    ("sparse, PAX", whole(pax(GNU__sparse__major=b"1", GNU__sparse__minor=b"0"), entry(b"a", b"0\n")), "tar-sparse"),
    ("folder with content", whole(entry(), entry(b"a", kind=b"5", mode=0o755)), "archive-folder"),
    ("file named as a folder", whole(entry(), head(b"a/")), "archive-folder"),
    ("prefix without a name", whole(entry(), head(b"", prefix=b"a")), "tar-header"),
    ("closed folder", whole(entry(), head(b"a/", kind=b"5", mode=0)), "tar-folder-mode"),
    # two sources of one fact
    ("PAX path that isn't needed", whole(pax(path=b"evil"), entry()), "tar-name"),
    ("PAX path with a NUL", whole(pax(path=b"SKILL.md\0evil" + b"x" * 100), entry()), "tar-name"),
    ("PAX size", whole(pax(size=b"3"), entry()), "tar-size"),
    ("PAX size that is no number", whole(pax(size=b"-6"), entry()), "tar-size"),
    ("PAX key twice", whole(entry(b"PaxHeader", record("path", LONG) + record("path", LONG + b"x"), kind=b"x"), entry(LONG[:100])), "tar-attributes"),
    ("PAX length that lies", whole(entry(b"PaxHeader", b"99 path=evil\n", kind=b"x"), entry()), "tar-attributes"),
    ("PAX without a value", whole(entry(b"PaxHeader", b"8 path\n\n", kind=b"x"), entry()), "tar-attributes"),
    ("PAX charset", whole(pax(hdrcharset=b"BINARY"), entry()), "tar-attributes"),
    ("huge PAX header", whole(pax(comment=b"x" * (65 << 10)), entry()), "tar-attributes"),
    ("global path", whole(pax(b"g", path=b"evil"), entry()), "tar-global"),
    ("global size", whole(pax(b"g", size=b"0"), entry()), "tar-global"),
    ("long name that differs", whole(long_name(b"evil" * 30), entry()), "tar-name"),
    ("long name with a second one", whole(long_name(b"SKILL.md\0evil"), entry()), "tar-name"),
    ("two long names", whole(long_name(LONG), long_name(LONG + b"x"), entry(LONG[:100], magic=GNU)), "tar-chain"),
    ("PAX and long name", whole(pax(path=LONG), long_name(LONG), entry(LONG[:100], magic=GNU)), "tar-chain"),
    ("extended header at the end", whole(entry(), pax(path=LONG)), "tar-chain"),
    # numbers and blocks
    ("wrong checksum", whole(entry(checksum=b"000001\0 ")), "tar-checksum"),
    ("checksum of letters", whole(entry(checksum=b"abcdef\0 ")), "tar-checksum"),
    ("base-256 size", whole(entry(size_field=b"\x80" + bytes(10) + b"\6")), "tar-size"),
    ("negative size", whole(entry(size_field=b"\xff" * 11 + b"\xfa")), "tar-size"),
    ("signed size", whole(entry(size_field=b"-0000000006\0")), "tar-size"),
    ("size past the end", whole(entry(size=50_000)), "archive-truncated"),
    ("huge size", whole(entry(size=51 << 20)), "archive-file-too-large"),
    ("time of letters", whole(entry(time_field=b"yesterday\0\0\0")), "tar-header"),
    ("mode of letters", whole(entry(mode_field=b"rw-r--r-")), "tar-header"),
    ("unknown format", zipped(entry(magic=b"evil!!!!")), "tar-header"),
    ("bytes in the padding", whole(entry(pad=b"x")), "tar-padding"),
    ("no end", whole(entry(), end=b""), "tar-end"),
    ("one empty block", whole(entry(), end=bytes(512)), "tar-end"),
    ("one empty block, then more", whole(entry(), bytes(512), entry(b"evil")), "tar-end"),
    ("entry after the end", whole(entry(), END, entry(b"evil")), "tar-trailing"),
    ("cut in a header", lambda: (entry() + entry(b"b"))[:1300], "tar-end"),
    ("no files", whole(head(b"./", kind=b"5", mode=0o755)), "archive-empty"),
    ("too many entries", whole(*(head(b"f%d" % number) for number in range(20_001))), "archive-too-many"),
    # gzip
    ("second stream", lambda: GZIPPED + GZIPPED, "gzip-members"),
    ("bytes after the stream", lambda: GZIPPED + b"evil", "gzip-trailing"),
    ("zeros after the stream", lambda: GZIPPED + bytes(512), "gzip-trailing"),
    ("cut stream", lambda: GZIPPED[:-4], "archive-truncated"),
    ("wrong checksum of the stream", lambda: GZIPPED[:-8] + b"evil" + GZIPPED[-4:], "archive-crc"),
    ("broken stream", lambda: GZIPPED[:10] + b"\xff" * 20, "gzip-broken"),
    ("stream of nothing", lambda: gzip.compress(b"", mtime=0), "tar-end"),
    ("bomb", bomb, "archive-bomb"),
)  # fmt: skip

# Zips that the strict reader refuses anyhow, as nothing deflated is canonical; here the importer is asked.
FOREIGN_ZIPS: tuple[tuple[str, Callable[[], bytes], str], ...] = (
    ("bzip2 inside", lambda: forge(Member(both={"method": 12})), "archive-method"),
    ("lzma inside", lambda: forge(Member(both={"method": 14})), "archive-method"),
    ("deflated bomb", zip_bomb, "archive-bomb"),
    ("deflated lie", lambda: forge(deflated(b"SKILL.md", b"hello\n" * 50, size=10, flags=0)), "archive-size"),
    ("deflated, then more", lambda: forge(_with_tail()), "archive-size"),
    ("deflated nonsense", lambda: forge(Member(data=b"\xff" * 20, both={"method": 8, "flags": 0})), "archive-crc"),
    ("deflated, wrong checksum", lambda: forge(deflated(b"SKILL.md", b"hello\n", flags=0, crc=1)), "archive-crc"),
    ("descriptor that differs", half_descriptor, "archive-descriptor"),
    ("descriptor of a stored file", lambda: forge(Member(both={"flags": 0x8}, after=struct.pack("<3L", zlib.crc32(b"hello\n"), 6, 6))), "archive-descriptor"),
    ("extra field twice", lambda: forge(Member(extra=TWICE)), "archive-extra"),
    ("extra field cut short", lambda: forge(Member(extra=b"UT\xff\xff")), "archive-extra"),
    ("second name in the entry only", lambda: forge(Member(local_extra=unicode_path())), "archive-extra"),
    ("zip64 in the entry only", lambda: forge(Member(local_extra=ZIP64)), "archive-zip64"),
    ("encrypted by an extra field", lambda: forge(Member(extra=struct.pack("<HH", 0x9901, 0))), "archive-encrypted"),
    ("version of the future", lambda: forge(Member(both={"needed": 168})), "archive-header"),
    ("unknown flags", lambda: forge(Member(both={"flags": 0x820})), "archive-header"),
    ("end record in the comment", lambda: forge(after_end=b"x" + forge()[-22:], comment=23), "archive-end-records"),
    ("long comment", lambda: forge(after_end=b"x" * 1025, comment=1025), "archive-comment"),
    ("folder that is a file too", lambda: forge(folder(b"a/"), Member(name=b"a")), "path-file-and-folder"),
    ("backslashes that climb", lambda: forge(deflated(b"kit\\..\\..\\evil", b"", None)), "path-parts"),
    ("share of a network", lambda: forge(deflated(b"\\\\host\\share\\x", b"", None)), "path-absolute"),
    ("evil among junk", lambda: forge(Member(), deflated(b"__MACOSX/../../evil", b"")), "path-parts"),
    ("link among junk", lambda: forge(Member(), Member(name=b"__MACOSX/a", central={"external": 0o120777 << 16})), "archive-link"),
)  # fmt: skip


def _with_tail() -> Member:
    good = deflated(b"SKILL.md", b"hello\n", flags=0)
    data = good.data + b"hidden"
    return Member(good.name, data, {**good.both, "stored": len(data)}, {}, good.central)
