"""What happens on the disk gets into the registry by itself: drops, copies, edits, and roots that come and go."""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from market.registry.watch import Watch, _by_root
from tests.registry.trees import a_command_folder, a_guide_folder, a_registry, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.registry.registry import Registry

pytestmark = pytest.mark.flow

LIVE_SECONDS = 1.0
"""Far above the budget of 40 ms: the machine that runs the tests may be busy."""


@contextmanager
def watched(*roots: Path, rescan_seconds: float = 3600.0) -> Iterator[Registry]:
    registry = a_registry(*roots)
    watch = Watch(registry, rescan_seconds)
    watch.start()
    assert watch.wait_until_watching(10)
    try:
        yield registry
    finally:
        watch.stop()


def has(registry: Registry, *keys: str) -> bool:
    return registry.snapshot.keys == tuple(sorted(keys))


def test_a_folder_renamed_into_a_root_is_live_and_one_renamed_out_is_gone(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    staged = a_command_folder(tmp_path / "staged" / "pack")
    with watched(tmp_path / "root") as registry:
        staged.rename(tmp_path / "root" / "pack")
        wait_for(lambda: has(registry, "pack"), LIVE_SECONDS)
        (tmp_path / "root" / "pack").rename(staged)
        wait_for(lambda: has(registry), LIVE_SECONDS)


def test_a_folder_that_is_copied_slowly_becomes_live_when_it_is_whole(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    source = a_command_folder(tmp_path / "source" / "pack")
    with watched(root) as registry:
        (root / "pack").mkdir()
        time.sleep(0.3)
        shutil.copy(source / "run.sh", root / "pack" / "run.sh")
        time.sleep(0.3)
        (root / "pack" / "skill.json").write_bytes((source / "skill.json").read_bytes()[:20])
        time.sleep(0.3)
        shutil.copy(source / "skill.json", root / "pack" / "skill.json")
        wait_for(lambda: has(registry, "pack"), 3.0)


def test_a_removed_folder_is_gone(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack")
    a_command_folder(tmp_path / "other")
    with watched(tmp_path) as registry:
        shutil.rmtree(tmp_path / "pack")
        wait_for(lambda: has(registry, "other"), LIVE_SECONDS)


def test_an_edit_inside_is_found_by_the_rescan(tmp_path: Path) -> None:
    a_guide_folder(tmp_path / "greeting")
    with watched(tmp_path, rescan_seconds=0.2) as registry:
        a_guide_folder(tmp_path / "greeting", description="Changed.")
        wait_for(lambda: [live.skill.description for live in registry.snapshot.all_skills()] == ["Changed."], 3.0)


def test_a_root_that_isn_t_there_yet_is_used_when_it_comes(tmp_path: Path) -> None:
    with watched(tmp_path / "late") as registry:
        a_command_folder(tmp_path / "late" / "pack")
        wait_for(lambda: has(registry, "pack"), 3.0)
        a_command_folder(tmp_path / "late" / "next")
        wait_for(lambda: has(registry, "next", "pack"), 3.0)


def test_a_root_that_is_moved_away_and_made_anew(tmp_path: Path) -> None:
    root = tmp_path / "root"
    a_command_folder(root / "old")
    with watched(root) as registry:
        root.rename(tmp_path / "elsewhere")
        wait_for(lambda: has(registry), 3.0)
        # What happens in the directory that was moved away concerns nobody.
        a_command_folder(tmp_path / "elsewhere" / "stray")
        a_command_folder(root / "new")
        wait_for(lambda: has(registry, "new"), 3.0)
        a_command_folder(root / "later")
        wait_for(lambda: has(registry, "later", "new"), 3.0)


def test_a_root_that_is_deleted_takes_its_skills_along_and_not_the_others(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "first" / "one")
    a_command_folder(tmp_path / "second" / "two")
    with watched(tmp_path / "first", tmp_path / "second") as registry:
        shutil.rmtree(tmp_path / "first")
        wait_for(lambda: has(registry, "two"), 3.0)
        a_command_folder(tmp_path / "second" / "three")
        wait_for(lambda: has(registry, "three", "two"), 3.0)


def test_many_at_once_are_all_found(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for number in range(200):
        a_command_folder(tmp_path / "staged" / f"pack-{number}")
    with watched(root) as registry:
        for folder in (tmp_path / "staged").iterdir():
            folder.rename(root / folder.name)
        wait_for(lambda: len(registry.snapshot.keys) == 200, 5.0)


def test_a_redeploy_that_drops_the_new_manifest_before_removing_the_old_a16(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "tool-1", name="tool", description="Old.")
    with watched(tmp_path) as registry:
        a_command_folder(tmp_path / "tool-2", name="tool", description="New.")
        wait_for(lambda: len(registry.snapshot.keys) == 2, 3.0)
        shutil.rmtree(tmp_path / "tool-1")
        wait_for(lambda: has(registry, "tool"), 3.0)
        live = registry.snapshot.find("tool")
        assert live is not None and live.skill.description == "New."


def test_paths_are_sorted_to_the_innermost_root() -> None:
    paths = ["/a/x/y", "/a/b/z", "/a/b", "/a/.market/lock", "/other/q", "/a"]
    assert _by_root(["/a", "/a/b"], paths) == {"/a": {"x", "b"}, "/a/b": {"z"}}
