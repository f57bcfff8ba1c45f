"""The canonical form, byte for byte, and what the writer refuses to write."""

from __future__ import annotations

import io
import zipfile
from typing import BinaryIO

import pytest

from market.errors import InvalidInput
from market.names import Digest
from market.pack import zip_format
from market.pack.archive_write import canonical_executables, canonical_source, find_excess, write_archive
from market.pack.build import archive_pack
from market.pack.inspect import Given, inspect_pack
from market.pack.record import hash_stream, make_record
from market.pack.source import MemorySource
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md, a_source

GOLDEN = Digest("sha256:b02f97dc63ff8bbdfa25f446d363a201c87066cbf108fdd9d780e1b41e87c69d")


def test_the_bytes_are_fixed_forever() -> None:
    out = io.BytesIO()
    write_archive(MemorySource({"b": b"2", "a": b"1"}, executables=frozenset({"b"})), out)
    assert out.getvalue().hex() == (
        "504b030414000008000000002100b7efdc8301000000010000000100000061" + "31"
        "504b0304140000080000000021000dbed51a01000000010000000100000062" + "32"
        "504b0102140314000008000000002100b7efdc8301000000010000000100000000000000000000" + "00a48100000000" + "61"
        "504b01021403140000080000000021000dbed51a01000000010000000100000000000000000000" + "00ed8120000000" + "62"
        "504b050600000000020002005e000000400000000000"
    )


def test_the_digests_of_a_pack_are_fixed_forever() -> None:
    built = archive_pack(a_source(), Given(), io.BytesIO())
    assert built.record.tree_digest == GOLDEN


def test_built_tells_digest_and_size_of_what_was_written() -> None:
    out = io.BytesIO()
    built = archive_pack(a_source(), Given(), out)
    out.seek(0)
    size, sha256 = hash_stream(out)
    assert (built.size, built.archive_digest) == (size, f"sha256:{sha256}")


def test_entries_stand_in_the_order_of_their_bytes() -> None:
    out = io.BytesIO()
    names = ["\U00010000", "\uffee", "z", "Y", "a/b", "a-b", "a"]  # UTF-16 order would swap the first two
    write_archive(MemorySource({name if name != "a" else "a.txt": b"" for name in names}), out)
    listed = zipfile.ZipFile(out).namelist()
    assert listed == sorted(listed, key=str.encode)


def test_executable_are_entries_and_scripts_that_carried_the_bit() -> None:
    files = {
        "skill.json": a_skill_json(entry="bin/run"),
        "bin/run": b"\x7fELF",
        "bin/helper.sh": b"#!/bin/sh\n",
        "bin/plain.sh": b"#!/bin/sh\n",
        "data.bin": b"no script",
    }
    source = MemorySource(files, executables=frozenset({"bin/helper.sh", "data.bin"}))
    pack = inspect_pack(source).pack
    assert pack is not None
    assert canonical_executables(source, pack) == {"bin/run", "bin/helper.sh"}
    out = io.BytesIO()
    built = archive_pack(source, Given(), out)
    assert built.record == make_record(canonical_source(source, pack))
    assert {file.path for file in built.record.files if file.executable} == {"bin/run", "bin/helper.sh"}


def test_the_bytes_of_files_are_never_changed() -> None:
    odd = b"\xef\xbb\xbf" + a_skill_md().replace(b"\n", b"\r\n")
    out = io.BytesIO()
    archive_pack(MemorySource({"SKILL.md": odd}, name="greeting"), Given(), out)
    assert zipfile.ZipFile(out).read("SKILL.md") == odd


class Lying(MemorySource):
    """A tree whose file grows after it was listed."""

    def open(self, path: str) -> BinaryIO:
        return io.BytesIO(self.read(path) * 2)


def test_the_size_that_counts_is_the_one_that_was_read() -> None:
    out = io.BytesIO()
    record = write_archive(Lying({"a": b"abc"}), out)
    assert record.files[0].size == 6
    assert zipfile.ZipFile(out).read("a") == b"abcabc"


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({}, "archive-empty"),
        ({"../a": b""}, "path-parts"),
        ({"a": b"", "A": b""}, "path-collision"),
        ({f"f{number}": b"" for number in range(zip_format.MAX_FILES + 1)}, "archive-too-many"),
        ({"big": bytes(zip_format.MAX_FILE_BYTES + 1)}, "archive-file-too-large"),
        ({"caf\udce9": b""}, "path-encoding"),
    ],
)
def test_what_the_reader_would_refuse_is_not_written(files: dict[str, bytes], rule: str) -> None:
    out = io.BytesIO()
    with pytest.raises(InvalidInput) as caught:
        write_archive(_Unsorted(files), out)
    assert rule in {problem.rule for problem in caught.value.problems}
    assert not out.getvalue()


class _Unsorted(MemorySource):
    """A tree that may hold names which aren't UTF-8."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__({name.replace("\udce9", "e"): content for name, content in files.items()})
        if any("\udce9" in name for name in files):
            self._files = tuple(type(file)("caf\udce9", file.size) for file in self._files)


def test_a_file_that_grows_over_the_limit_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        write_archive(Lying({"a": b"abc"}), io.BytesIO(), zip_format.Limits(file_bytes=4))
    assert caught.value.problems[0].rule == "archive-file-too-large"


def test_an_archive_over_the_limit_is_refused() -> None:
    with pytest.raises(InvalidInput) as caught:
        write_archive(
            MemorySource({"a": bytes(50), "b": bytes(50)}), io.BytesIO(), zip_format.Limits(archive_bytes=100)
        )
    assert caught.value.problems[0].rule == "archive-too-large"


def test_a_pack_with_an_error_is_not_archived_and_all_is_said() -> None:
    out = io.BytesIO()
    with pytest.raises(InvalidInput) as caught:
        archive_pack(
            a_source({"skill.json": a_skill_json(name="Bad", entry="nope.sh", **{"class": None})}), Given(), out
        )
    assert {problem.rule for problem in caught.value.problems} >= {"skill-name", "class-missing"}
    assert not out.getvalue()


def test_what_works_on_this_machine_only_is_not_archived() -> None:
    with pytest.raises(InvalidInput, match="1 error"):
        archive_pack(a_source({"skill.json": a_skill_json(entry="/bin/sh")}), Given(), io.BytesIO())


def test_a_refusal_does_not_stop_an_archive() -> None:
    files = {"skill.json": a_skill_json(version=None, **{"class": None}), "run.sh": RUN_SCRIPT}
    built = archive_pack(a_source(files), Given(), io.BytesIO())
    assert {problem.rule for problem in built.problems} == {"version-missing", "class-missing"}


def test_what_a_tree_breaks_is_known_to_the_byte_before_it_is_written() -> None:
    source, out = MemorySource({"a": b"123", "\u00fc/b": b"45"}), io.BytesIO()
    write_archive(source, out)
    size = len(out.getvalue())
    assert list(find_excess(source.files(), zip_format.Limits(archive_bytes=size))) == []
    assert [one.rule for one in find_excess(source.files(), zip_format.Limits(size - 1, 2, 1))] == [
        "archive-too-many",
        "archive-too-large",
        "archive-file-too-large",
    ]
