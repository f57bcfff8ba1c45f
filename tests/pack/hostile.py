"""Archives made to cheat, as data: each builder gives the bytes, each row the rule that must refuse them.

The builder knows the zip format by itself (PKWARE's APPNOTE), so that a mistake in the reader can't hide in here.
"""

from __future__ import annotations

import stat
import struct
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REGULAR = (stat.S_IFREG | 0o644) << 16


@dataclass(frozen=True)
class Member:
    """One entry. Fields given in `local` or `central` replace those of that header only; `both` those of both."""

    name: bytes = b"SKILL.md"
    data: bytes = b"hello\n"
    both: dict[str, int] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    central: dict[str, int] = field(default_factory=dict)
    extra: bytes = b""
    local_extra: bytes = b""
    comment: bytes = b""
    before: bytes = b""
    after: bytes = b""
    local_name: bytes | None = None
    offset: int | None = None

    def defaults(self) -> dict[str, int]:
        crc = zlib.crc32(self.data)
        return {"needed": 20, "flags": 0x800, "method": 0, "time": 0, "date": 33, "crc": crc, "stored": len(self.data), "size": len(self.data)}

    def dump_local(self) -> bytes:
        values = {**self.defaults(), **self.both, **self.local}
        name = self.name if self.local_name is None else self.local_name
        head = struct.pack("<4s5H3L2H", b"PK\3\4", *values.values(), len(name), len(self.local_extra))
        return self.before + head + name + self.local_extra + self.data + self.after

    def dump_central(self, offset: int) -> bytes:
        values = {"made": 0x314, **self.defaults(), "disk": 0, "internal": 0, "external": REGULAR, **self.both, **self.central}
        first = [values[key] for key in ("made", "needed", "flags", "method", "time", "date", "crc", "stored", "size")]
        last = [values[key] for key in ("disk", "internal", "external")]
        at = offset + len(self.before) if self.offset is None else self.offset
        lengths = (len(self.name), len(self.extra), len(self.comment))
        return struct.pack("<4s6H3L5H2L", b"PK\1\2", *first, *lengths, *last, at) + self.name + self.extra + self.comment


def forge(
    *members: Member, prefix: bytes = b"", between: bytes = b"", before_end: bytes = b"", after_end: bytes = b"", directory_tail: bytes = b"", **end: int
) -> bytes:
    """Build an archive: canonical unless told otherwise. `end` replaces fields of the end record."""
    body, rows = b"", b""
    for member in members or (Member(),):
        rows += member.dump_central(len(body))
        body += member.dump_local()
    body += between
    rows += directory_tail
    count = len(members) or 1
    values = {"disk": 0, "first": 0, "here": count, "count": count, "size": len(rows), "offset": len(body), "comment": 0, **end}
    return prefix + body + rows + before_end + struct.pack("<4s4H2LH", b"PK\5\6", *values.values()) + after_end


def named(name: bytes) -> Callable[[], bytes]:
    return lambda: forge(*sorted((Member(), Member(name=name)), key=lambda member: member.name))


def typed(mode: int, made: int = 0x314) -> Callable[[], bytes]:
    return lambda: forge(Member(central={"external": mode << 16, "made": made}))


def cut(count: int) -> Callable[[], bytes]:
    return lambda: forge(Member(data=b"x" * 500))[:-count]


def deflated() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain = b"a" * 1000
    data = packer.compress(plain) + packer.flush()
    return forge(Member(data=data, both={"method": 8, "crc": zlib.crc32(plain), "size": len(plain)}))


def bomb() -> bytes:
    """Many rows that all point to one entry (the overlapping bomb)."""
    kernel = Member(name=b"a", data=b"x" * 1000)
    body = kernel.dump_local()
    rows = b"".join(replace(kernel, name=f"a{number}".encode(), offset=0).dump_central(0) for number in range(3))
    return body + rows + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 3, 3, len(rows), len(body), 0)


def two_ends() -> bytes:
    inner = forge(Member(name=b"a"))
    return forge(Member(name=b"a"), before_end=inner[-22:])


def unicode_path() -> bytes:
    return struct.pack("<HHBL", 0x7075, 9, 1, 0) + b"evil"


ZIP64 = struct.pack("<HHQQ", 1, 16, 6, 6)
ZIP64_LOCATOR = struct.pack("<4sLQL", b"PK\6\7", 0, 0, 1)

HOSTILE: tuple[tuple[str, Callable[[], bytes], str], ...] = (
    # names
    ("parent", named(b"../evil"), "path-parts"),
    ("parent inside", named(b"a/../../evil"), "path-parts"),
    ("dot", named(b"./evil"), "path-parts"),
    ("empty part", named(b"a//b"), "path-parts"),
    ("empty name", named(b""), "path-parts"),
    ("absolute", named(b"/market-hazard/evil"), "path-absolute"),
    ("network share", named(b"\\\\host\\share"), "path-absolute"),
    ("backslash", named(b"a\\b"), "path-backslash"),
    ("drive", named(b"C:/evil"), "path-colon"),
    ("drive without slash", named(b"C:evil"), "path-colon"),
    ("hidden stream", named(b"a.txt:evil"), "path-colon"),
    ("nul", named(b"a\0.txt"), "path-control"),
    ("line feed", named(b"a\n.txt"), "path-control"),
    ("delete", named(b"a\x7f"), "path-control"),
    ("C1 control", named("a\x85b".encode()), "path-control"),
    ("right to left", named("a\u202egpj.exe".encode()), "path-invisible"),
    ("zero width", named("SKILL\u200b.md".encode()), "path-invisible"),
    ("tag characters", named("a\U000e0041".encode()), "path-invisible"),
    ("not UTF-8", named(b"caf\xe9"), "path-encoding"),
    ("surrogate in UTF-8", named(b"a\xed\xa0\x80"), "path-encoding"),
    ("overlong slash", named(b"a\xc0\xafb"), "path-encoding"),
    ("decomposed", named("cafe\u0301".encode()), "path-normal-form"),
    ("long path", named(b"/".join([b"d" * 60] * 5)), "path-long"),
    ("long part", named(b"a" * 101), "path-long"),
    ("deep", named(b"a/" * 17 + b"b"), "path-deep"),
    ("trailing dot", named(b"a."), "path-ending"),
    ("trailing space", named(b"a /b"), "path-ending"),
    ("device", named(b"con"), "path-reserved"),
    ("device with suffix", named(b"docs/NUL.txt"), "path-reserved"),
    ("device with a superscript", named("com\u00b9.log".encode()), "path-reserved"),
    ("option", named(b"-rf"), "path-leading"),
    ("home", named(b"~/.ssh/key"), "path-leading"),
    ("git hooks", named(b".git/hooks/post-checkout"), "path-forbidden"),
    ("receipts", named(b".market/receipts/x.json"), "path-forbidden"),
    ("byte code", named(b"__pycache__/a.pyc"), "path-forbidden"),
    ("git in capitals", named(b".GIT/config"), "path-forbidden"),
    # names against each other
    ("duplicate", lambda: forge(Member(data=b"good"), Member(data=b"evil")), "path-duplicate"),
    ("case", named(b"skill.md"), "path-collision"),
    ("case of folders", lambda: forge(Member(name=b"A/x"), Member(name=b"a/y")), "path-collision"),
    ("case folding", lambda: forge(Member(name=b"strasse"), Member(name="stra\u00dfe".encode())), "path-collision"),
    ("kelvin", lambda: forge(Member(name=b"k"), Member(name="\u212a".encode())), "path-collision"),
    ("file and folder", lambda: forge(Member(name=b"a"), Member(name=b"a/b")), "path-file-and-folder"),
    ("file and folder by case", lambda: forge(Member(name=b"A"), Member(name=b"a/b")), "path-file-and-folder"),
    # types and modes
    ("symbolic link", typed(stat.S_IFLNK | 0o777), "archive-link"),
    ("link without the right maker", typed(stat.S_IFLNK | 0o777, 0x014), "archive-link"),
    ("character device", typed(stat.S_IFCHR | 0o644), "archive-special"),
    ("block device", typed(stat.S_IFBLK | 0o644), "archive-special"),
    ("pipe", typed(stat.S_IFIFO | 0o644), "archive-special"),
    ("socket", typed(stat.S_IFSOCK | 0o644), "archive-special"),
    ("unknown type", typed(0o030000 | 0o644), "archive-special"),
    ("set user id", typed(stat.S_IFREG | 0o4755), "archive-mode"),
    ("set group id", typed(stat.S_IFREG | 0o2755), "archive-mode"),
    ("sticky", typed(stat.S_IFREG | 0o1644), "archive-mode"),
    ("writable by all", typed(stat.S_IFREG | 0o666), "archive-mode"),
    ("no mode", typed(0), "archive-mode"),
    ("made on DOS", typed(0, 0x014), "archive-mode"),
    ("DOS folder bit", lambda: forge(Member(central={"external": REGULAR | 0x10})), "archive-mode"),
    ("folder entry", lambda: forge(Member(name=b"a/", data=b"", central={"external": (stat.S_IFDIR | 0o755) << 16})), "archive-folder"),
    ("folder with content", lambda: forge(Member(name=b"a/")), "archive-folder"),
    ("folder type", typed(stat.S_IFDIR | 0o755), "archive-folder"),
    # how the bytes are stored
    ("deflated", deflated, "archive-compressed"),
    ("bzip2", lambda: forge(Member(both={"method": 12})), "archive-compressed"),
    ("encrypted", lambda: forge(Member(both={"flags": 0x801})), "archive-encrypted"),
    ("strong encryption", lambda: forge(Member(both={"flags": 0x841})), "archive-encrypted"),
    ("masked headers", lambda: forge(Member(both={"flags": 0x2800})), "archive-encrypted"),
    ("descriptor", lambda: forge(Member(both={"flags": 0x808}, after=struct.pack("<4s3L", b"PK\7\10", 0, 6, 6))), "archive-descriptor"),
    ("lying size", lambda: forge(Member(both={"size": 1})), "archive-size"),
    ("huge size", lambda: forge(Member(both={"size": 51 << 20, "stored": 51 << 20})), "archive-file-too-large"),
    ("size beyond the end", lambda: forge(Member(both={"size": 5000, "stored": 5000})), "archive-overlap"),
    ("bad checksum", lambda: forge(Member(both={"crc": 1})), "archive-crc"),
    ("changed byte", lambda: forge(Member(data=b"hello\n")).replace(b"hello", b"jello"), "archive-crc"),
    # headers
    ("flags without UTF-8", lambda: forge(Member(both={"flags": 0})), "archive-header"),
    ("time", lambda: forge(Member(both={"time": 1})), "archive-header"),
    ("date", lambda: forge(Member(both={"date": 34})), "archive-header"),
    ("version needed", lambda: forge(Member(both={"needed": 45})), "archive-header"),
    ("version made by", lambda: forge(Member(central={"made": 0x31E})), "archive-header"),
    ("text bit", lambda: forge(Member(central={"internal": 1})), "archive-header"),
    ("entry on another disk", lambda: forge(Member(central={"disk": 1})), "archive-header"),
    ("extra field", lambda: forge(Member(extra=b"UT\5\0\3\0\0\0\0")), "archive-extra"),
    ("second name", lambda: forge(Member(extra=unicode_path())), "archive-extra"),
    ("extra in the entry only", lambda: forge(Member(local_extra=b"UT\5\0\3\0\0\0\0")), "archive-mismatch"),
    ("entry comment", lambda: forge(Member(comment=b"hello")), "archive-comment"),
    ("zip64 extra", lambda: forge(Member(extra=ZIP64)), "archive-zip64"),
    ("zip64 size", lambda: forge(Member(both={"size": 0xFFFFFFFF, "stored": 0xFFFFFFFF})), "archive-zip64"),
    ("zip64 offset", lambda: forge(Member(offset=0xFFFFFFFF)), "archive-zip64"),
    ("order", lambda: forge(Member(name=b"b"), Member(name=b"a")), "archive-order"),
    # the entry's header against the directory
    ("other name", lambda: forge(Member(local_name=b"EVIL.md1")), "archive-mismatch"),
    ("longer name", lambda: forge(Member(local_name=b"SKILL.md.exe")), "archive-mismatch"),
    ("other flags", lambda: forge(Member(local={"flags": 0})), "archive-mismatch"),
    ("other method", lambda: forge(Member(local={"method": 8})), "archive-mismatch"),
    ("other checksum", lambda: forge(Member(local={"crc": 0})), "archive-mismatch"),
    ("other size", lambda: forge(Member(local={"size": 3})), "archive-mismatch"),
    ("no entry at all", lambda: forge(Member(local={"needed": 0})), "archive-mismatch"),
    # bytes that belong to nobody
    ("prefix", lambda: forge(prefix=b"#!/bin/sh\nexit\n"), "archive-prefix"),
    ("prefix with right offsets", lambda: forge(Member(before=b"MZ")), "archive-prefix"),
    ("gap between entries", lambda: forge(Member(name=b"a", after=b"hidden"), Member(name=b"b")), "archive-gap"),
    ("gap before the directory", lambda: forge(between=b"hidden"), "archive-gap"),
    ("entry that the directory omits", lambda: forge(between=Member(name=b"hidden").dump_local()), "archive-gap"),
    ("gap before the end", lambda: forge(before_end=b"hidden"), "archive-gap"),
    ("trailing bytes", lambda: forge(after_end=b"x"), "archive-trailing"),
    ("trailing archive", lambda: forge(after_end=b"PK\3\4 no end"), "archive-trailing"),
    ("comment", lambda: forge(after_end=b"hello", comment=5), "archive-comment"),
    ("announced comment", lambda: forge(comment=5), "archive-comment"),
    ("overlapping entries", bomb, "archive-overlap"),
    ("entry inside another", lambda: forge(Member(name=b"a", data=b"x" * 100), Member(name=b"b", offset=40)), "archive-overlap"),
    ("two end records", two_ends, "archive-end-records"),
    ("zip64 locator", lambda: forge(before_end=ZIP64_LOCATOR), "archive-zip64"),
    ("zip64 count", lambda: forge(here=0xFFFF, count=0xFFFF), "archive-zip64"),
    # the end record and the directory
    ("several disks", lambda: forge(disk=1), "archive-multi-disk"),
    ("counts differ", lambda: forge(here=2), "archive-multi-disk"),
    ("row missing", lambda: forge(here=2, count=2), "archive-directory"),
    ("row too many", lambda: forge(Member(name=b"a"), Member(name=b"b"), here=1, count=1), "archive-directory"),
    ("row cut short", lambda: forge(Member(central={}), directory_tail=b"PK\1\2", here=2, count=2), "archive-directory"),
    ("directory beyond the end", lambda: forge(size=5000), "archive-truncated"),
    ("directory elsewhere", lambda: forge(offset=0), "archive-prefix"),
    ("no files", lambda: struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0, 0, 0, 0, 0), "archive-empty"),
    ("end cut off", cut(22), "archive-truncated"),
    ("one byte short", cut(1), "archive-truncated"),
    ("half", cut(300), "archive-truncated"),
    ("nothing", lambda: b"", "archive-not-zip"),
    ("text", lambda: b"hello world, this is no archive at all\n", "archive-not-zip"),
    ("gzip", lambda: b"\x1f\x8b\x08\0" + bytes(60), "archive-not-zip"),
    ("too many files", lambda: forge(*(Member(name=f"f{number:05}".encode(), data=b"") for number in range(5001))), "archive-too-many"),
    ("too large", lambda: bytes((64 << 20) + 1), "archive-too-large"),
)
