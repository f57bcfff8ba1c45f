"""Laws of unpacking: any tree comes onto the disk as it is, and a changed archive, held against the record that was promised, never another one."""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from market.disk.unpack import unpack
from market.disk.walk import open_folder
from market.errors import Untrusted
from market.pack.archive_read import read_archive
from market.pack.archive_write import write_archive
from market.pack.importer import import_archive
from market.pack.record import make_record
from tests.pack.mutations import a_tree, foreign_archives, mutate, pack, rebuild

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

MAX_SECONDS = 2.0
CHANCES = st.randoms(use_true_random=False)


def on_disk(act: Callable[[int], None]) -> dict[str, tuple[bytes, int]]:
    """Run in a staging folder of its own and return what is in it; nothing may be beside it."""
    place = Path(tempfile.mkdtemp(prefix="market-law-"))
    try:
        staging = place / "staging"
        staging.mkdir()
        descriptor = os.open(staging, os.O_RDONLY | os.O_DIRECTORY)
        try:
            act(descriptor)
        finally:
            os.close(descriptor)
            assert os.listdir(place) == ["staging"]
        return {
            str(path.relative_to(staging)): (path.read_bytes(), stat.S_IMODE(path.lstat().st_mode))
            for path in staging.rglob("*")
            if not path.is_dir()
        }
    finally:
        shutil.rmtree(place)


@settings(max_examples=60, deadline=None)
@given(CHANCES)
def test_any_tree_comes_onto_the_disk_and_back(chance: random.Random) -> None:
    source = a_tree(chance)
    archive, record = pack(source)

    def act(descriptor: int) -> None:
        unpack(read_archive(io.BytesIO(archive)), record, descriptor)
        with open_folder(Path(f"/proc/self/fd/{descriptor}")) as folder:
            assert make_record(folder.source).tree_digest == record.tree_digest

    found = on_disk(act)
    assert found == {
        file.path: (source.read(file.path), 0o755 if file.executable else 0o644) for file in source.files()
    }


@settings(max_examples=200, deadline=None)
@given(CHANCES, st.booleans())
def test_a_changed_archive_is_refused_or_gives_the_promised_tree(chance: random.Random, is_clever: bool) -> None:
    source = a_tree(chance)
    archive, record = pack(source)
    changed = rebuild(archive, chance) if is_clever else mutate(archive, chance)

    def act(descriptor: int) -> None:
        unpack(read_archive(io.BytesIO(changed)), record, descriptor)

    started = time.perf_counter()
    try:
        found = on_disk(act)
    except Untrusted:
        return
    finally:
        assert time.perf_counter() - started < MAX_SECONDS
    assert found == {
        file.path: (source.read(file.path), 0o755 if file.executable else 0o644) for file in source.files()
    }


@settings(max_examples=200, deadline=None)
@given(CHANCES, st.sampled_from(foreign_archives()))
def test_a_changed_foreign_archive_is_refused_or_becomes_a_canonical_one(chance: random.Random, archive: bytes) -> None:
    changed = mutate(archive, chance)
    started = time.perf_counter()
    try:
        imported = import_archive(io.BytesIO(changed), io.BytesIO())
        record = make_record(imported.source)
    except Untrusted as refusal:
        assert refusal.problems
        return
    finally:
        assert time.perf_counter() - started < MAX_SECONDS
    out = io.BytesIO()
    assert write_archive(imported.source, out) == record
    assert make_record(read_archive(out)) == record
