from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from market.disk.unpack import WHOLE_FILE_BYTES, unpack
from market.disk.walk import open_folder
from market.errors import Untrusted
from market.pack.record import Record, make_record
from market.pack.source import MemorySource

if TYPE_CHECKING:
    from collections.abc import Iterator

STAMP = 1_700_000_000_000_000_000


@pytest.fixture
def place(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def below(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}")


def test_what_is_unpacked_is_what_was_recorded(place: int) -> None:
    source = MemorySource(
        {"a-b/x": b"1", "a/b/c": b"2", "a/x": b"3", "run": b"4"}, executables=frozenset({"run", "a/x"})
    )
    record = make_record(source)
    unpack(source, record, place, stamp_ns=STAMP)
    assert make_record(open_folder(below(place)).source) == record
    assert {(below(place) / path).stat().st_mtime_ns for path in record.by_path} == {STAMP}
    assert stat.S_IMODE((below(place) / "a/b").stat().st_mode) == 0o755


NAMES = st.text(st.sampled_from("ab-.0"), min_size=1, max_size=3).filter(lambda name: name.strip("."))
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map("/".join), st.binary(max_size=20), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_any_tree_of_names_is_unpacked_whole(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    files = {
        path: content
        for path, content in contents.items()
        if not any(other.startswith(path + "/") for other in contents)
    }
    place = tmp_path_factory.mktemp("tree")
    source = MemorySource(files)
    descriptor = os.open(place, os.O_RDONLY)
    try:
        unpack(source, make_record(source), descriptor)
    finally:
        os.close(descriptor)
    assert {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("size", [10, WHOLE_FILE_BYTES + 10])
@pytest.mark.parametrize("lie", ["sha256", "longer", "shorter"])
def test_other_bytes_than_recorded_are_refused(place: int, size: int, lie: str) -> None:
    source = MemorySource({"file": b"x" * size})
    (file,) = make_record(source).files
    wrong = {
        "sha256": replace(file, sha256="0" * 64),
        "longer": replace(file, size=size - 1),
        "shorter": replace(file, size=size + 1),
    }
    with pytest.raises(Untrusted, match="not what the pack's record says"):
        unpack(source, Record((wrong[lie],)), place)


def test_nothing_that_is_there_is_written_over_or_followed(place: int, tmp_path: Path) -> None:
    source = MemorySource({"a/file": b"new"})
    record = make_record(source)
    (tmp_path / "elsewhere").mkdir()
    (below(place) / "a").symlink_to("elsewhere")
    with pytest.raises(FileExistsError):
        unpack(source, record, place)
    assert os.listdir(tmp_path / "elsewhere") == []


def test_descriptors_are_closed_also_after_a_failure(place: int) -> None:
    source = MemorySource({"a/b/c/file": b"x"})
    (file,) = make_record(source).files
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Untrusted):
        unpack(source, Record((replace(file, sha256="0" * 64),)), place)
    assert len(os.listdir("/proc/self/fd")) == before
