"""Laws of the archive: any tree comes back as it was, its bytes depend on the tree alone, and a changed byte is never read as another tree."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from market.errors import Untrusted
from market.pack.archive_read import read_archive
from market.pack.archive_write import write_archive
from market.pack.paths import check_path, find_collisions
from market.pack.record import Record, make_record
from market.pack.source import MemorySource

if TYPE_CHECKING:
    import random

PARTS = st.text(st.sampled_from("abcXYZ019_-. é技☃"), min_size=1, max_size=8)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join).filter(lambda path: not check_path(path))
TREES = st.dictionaries(PATHS, st.binary(max_size=200), min_size=1, max_size=8).filter(lambda tree: not find_collisions(tree))


def write(tree: dict[str, bytes], executables: frozenset[str] = frozenset()) -> tuple[bytes, Record]:
    out = io.BytesIO()
    record = write_archive(MemorySource(tree, executables=executables), out)
    return out.getvalue(), record


@given(TREES, st.randoms(use_true_random=False))
def test_any_tree_comes_back_and_gives_the_same_bytes(tree: dict[str, bytes], chance: random.Random) -> None:
    executables = frozenset(path for path in tree if chance.random() < 0.5)
    archive, record = write(tree, executables)
    source = read_archive(io.BytesIO(archive))
    assert {file.path: source.read(file.path) for file in source.files()} == tree
    assert {file.path for file in source.files() if file.executable} == executables
    assert make_record(source) == record
    shuffled = list(tree.items())
    chance.shuffle(shuffled)
    assert write(dict(shuffled), executables) == (archive, record)
    again = io.BytesIO()
    assert write_archive(source, again) == record
    assert again.getvalue() == archive


@given(TREES)
def test_other_readers_see_the_same_tree(tree: dict[str, bytes]) -> None:
    archive, _ = write(tree)
    with zipfile.ZipFile(io.BytesIO(archive)) as other:
        assert {name: other.read(name) for name in other.namelist()} == tree


@settings(max_examples=400)
@given(TREES, st.data())
def test_a_mutated_archive_is_refused_or_reads_as_the_same_tree(tree: dict[str, bytes], data: st.DataObject) -> None:
    archive, record = write(tree)
    mutated = bytearray(archive)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        match data.draw(st.sampled_from(["change", "insert", "remove", "copy"])):
            case "change":
                mutated[at] ^= data.draw(st.integers(1, 255))
            case "insert":
                mutated[at:at] = data.draw(st.binary(min_size=1, max_size=30))
            case "remove":
                del mutated[at : at + data.draw(st.integers(1, 30))]
            case _:
                mutated[at:at] = mutated[at : at + 60]
        assume(mutated)
    try:
        found = make_record(read_archive(io.BytesIO(bytes(mutated))))
    except Untrusted as refusal:
        assert refusal.problems
        return
    # Only the byte of a mode can turn one canonical archive into another (0644, 0755); whatever is read is canonical to the last byte.
    again = io.BytesIO()
    assert write_archive(read_archive(io.BytesIO(bytes(mutated))), again) == found
    assert again.getvalue() == bytes(mutated)
    assert [(file.path, file.sha256) for file in found.files] == [(file.path, file.sha256) for file in record.files]


@given(st.binary(max_size=400))
def test_any_bytes_are_refused_without_a_crash(noise: bytes) -> None:
    for content in (noise, noise + b"PK\5\6" + bytes(18), b"PK\3\4" + noise):
        try:
            read_archive(io.BytesIO(content))
        except Untrusted:
            continue
        raise AssertionError("noise was read as an archive")
