"""The registry's own promises: whole snapshots, changes at the price of the change, and what is read again when."""

from __future__ import annotations

import os
import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from market.installer.root import Root
from market.model import State
from market.registry.first_load import load_and_watch
from market.registry.loader import Loader
from market.registry.registry import Registry
from market.registry.roots import read_root
from market.registry.tree_marks import scan_tree
from market.registry.unit import LoadedUnit, UnitId
from market.registry.watch import Watch
from tests.factories import RUN_SCRIPT, a_skill_json
from tests.installer.builders import an_arrival, install
from tests.registry.trees import a_command_folder, a_guide_folder, a_registry, write_tree
from tests.registry.units import a_command, a_unit

if TYPE_CHECKING:
    from pathlib import Path

    from market.registry.snapshot import Snapshot


def test_a_new_name_and_a_gone_one(tmp_path: Path) -> None:
    registry = a_registry(tmp_path)
    a_command_folder(tmp_path / "one")
    registry.refresh_names(str(tmp_path), ["one"])
    assert list(registry.snapshot.keys) == ["one"]
    shutil.rmtree(tmp_path / "one")
    registry.refresh_names(str(tmp_path), ["one"])
    assert list(registry.snapshot.keys) == [] and not registry.snapshot.units


def test_readers_keep_the_snapshot_they_took(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "one")
    registry = a_registry(tmp_path)
    before = registry.snapshot
    a_command_folder(tmp_path / "two")
    registry.rescan()
    assert before.keys == ("one",) and registry.snapshot.keys == ("one", "two")


def test_readers_never_see_half_a_change() -> None:
    """Each unit has two skills of one version; a reader must never find two versions, or one skill without the other."""
    unit = UnitId("/first", "pair")
    versions = iter(range(1, 100_000))

    def read(_: UnitId) -> LoadedUnit:
        return a_unit("pair", a_command("left"), a_command("right", folder="r"), version=str(next(versions)))

    registry = Registry(["/first"], read)
    registry.refresh([unit])
    stop, mixed = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            snapshot = registry.snapshot
            left, right = snapshot.find("left"), snapshot.find("right")
            if left is None or right is None or left.version != right.version or snapshot.keys != ("left", "right"):
                mixed.append((left, right))

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(2000):
        registry.refresh([unit])
    stop.set()
    for reader in readers:
        reader.join()
    assert not mixed


def test_one_change_reads_one_unit(tmp_path: Path) -> None:
    for number in range(20):
        a_command_folder(tmp_path / f"pack-{number}")
    read: list[str] = []
    loader = Loader()

    def load(unit: UnitId) -> LoadedUnit | None:
        read.append(unit.name)
        return loader.load(unit)

    registry = Registry([str(tmp_path)], load)
    registry.load()
    read.clear()
    a_command_folder(tmp_path / "new")
    registry.refresh_names(str(tmp_path), ["new"])
    assert read == ["new"]
    a_command_folder(tmp_path / "pack-3", description="Changed.")
    registry.rescan()
    assert read == ["new", "pack-3"]


def test_a_rescan_finds_edits_inside_new_names_and_gone_ones(tmp_path: Path) -> None:
    for name in ("kept", "edited", "gone"):
        a_command_folder(tmp_path / name)
    registry = a_registry(tmp_path)
    a_command_folder(tmp_path / "edited", description="Something else.")
    a_command_folder(tmp_path / "fresh")
    shutil.rmtree(tmp_path / "gone")
    registry.rescan()
    assert registry.snapshot.keys == ("edited", "fresh", "kept")
    edited = registry.snapshot.find("edited")
    assert edited is not None and edited.skill.description == "Something else."


def test_a_listener_hears_of_changes_only(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "one")
    registry = a_registry(tmp_path)
    heard: list[Snapshot] = []
    registry.subscribe(lambda snapshot, events: heard.append(snapshot))
    registry.rescan()
    assert heard == []
    a_command_folder(tmp_path / "two")
    registry.rescan()
    assert [snapshot.keys for snapshot in heard] == [("one", "two")]


def test_e10_a_changed_guide_is_used_on_the_next_look(tmp_path: Path) -> None:
    a_guide_folder(tmp_path / "greeting")
    registry = a_registry(tmp_path)
    (before,) = registry.snapshot.all_skills()
    a_guide_folder(tmp_path / "greeting", description="Says goodbye. Use at the end.")
    registry.recheck_watched([before])
    (after,) = registry.snapshot.all_skills()
    assert before.skill.guide is not None and after.skill.guide is not None
    assert after.skill.guide.marker != before.skill.guide.marker and after.skill.description == "Says goodbye. Use at the end."


def test_find_current_sees_a_replaced_tree_a_changed_entry_and_a_removed_one(tmp_path: Path) -> None:
    root = tmp_path / "root"
    a_command_folder(root / "pack", **{"class": "mutating"})
    registry = a_registry(root)
    first = registry.find_current("pack")
    assert first is not None
    a_command_folder(tmp_path / "staged" / "pack", description="The second.")
    shutil.move(root / "pack", tmp_path / "old")
    (tmp_path / "staged" / "pack").rename(root / "pack")
    second = registry.find_current("pack")
    assert second is not None and second.inode != first.inode and second.skill.description == "The second."
    (root / "pack" / "run.sh").write_text("#!/bin/sh\n# changed\n")
    third = registry.find_current("pack")
    assert third is not None and third.tree_digest != second.tree_digest
    shutil.rmtree(root / "pack")
    assert registry.find_current("pack") is None and registry.find_current("never") is None


def test_an_edit_of_an_installed_entry_is_held_before_the_next_call(tmp_path: Path) -> None:
    install(Root(tmp_path), an_arrival("tools", extra={"skill.json": a_skill_json(**{"class": "mutating"})}))
    registry = a_registry(tmp_path)
    before = registry.find_current("echo_args")
    (tmp_path / "tools" / "run.sh").write_text("#!/bin/sh\nexit 1\n")
    after = registry.find_current("echo_args")
    assert before is not None and before.state is State.LIVE
    assert after is not None and after.state is State.HELD


def test_a_root_that_becomes_a_unit_itself_and_back(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "one")
    registry = a_registry(tmp_path)
    write_tree(tmp_path, {"SKILL.md": "---\nname: whole\ndescription: All of it.\n---\n"})
    registry.refresh_names(str(tmp_path), ["SKILL.md"])
    assert set(registry.snapshot.keys) == {"one", "whole"}
    assert {live.unit for live in registry.snapshot.all_skills()} == {str(tmp_path)}
    (tmp_path / "SKILL.md").unlink()
    registry.refresh_names(str(tmp_path), ["SKILL.md"])
    (live,) = registry.snapshot.all_skills()
    assert live.unit == str(tmp_path / "one")


def test_packs_installed_below_a_root_that_is_a_unit_are_units_of_their_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"SKILL.md": "---\nname: whole\ndescription: All of it.\n---\n"})
    install(Root(tmp_path), an_arrival("tools", extra={}))
    registry = a_registry(tmp_path)
    tools = registry.snapshot.find("tools")
    assert tools is not None and tools.state is State.LIVE and tools.unit == str(tmp_path / "tools")
    whole = registry.snapshot.find("whole")
    assert whole is not None and whole.unit == str(tmp_path)


def test_the_same_root_twice_counts_once(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "one")
    assert a_registry(tmp_path, tmp_path).snapshot.keys == ("one",)


def test_a_root_s_units_come_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden", "node_modules"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert [unit.name for unit in read_root(str(tmp_path)).units] == ["a", "b"]
    assert read_root(str(tmp_path / "gone")).why and read_root(str(tmp_path / "file")).why == "it is not a directory"


def test_a_signature_changes_with_content_mode_and_names(tmp_path: Path) -> None:
    write_tree(tmp_path / "tree", {"a/b.txt": "one", "run.sh": RUN_SCRIPT})
    seen = {scan_tree(str(tmp_path / "tree")).signature}
    for change in (
        lambda: (tmp_path / "tree" / "a" / "b.txt").write_text("two!"),
        lambda: (tmp_path / "tree" / "run.sh").chmod(0o644),
        lambda: (tmp_path / "tree" / "c.txt").write_text(""),
        lambda: (tmp_path / "tree" / "c.txt").unlink(),
    ):
        change()
        seen.add(scan_tree(str(tmp_path / "tree")).signature)
    # The last change undoes the one before it, so that two of the five trees are the same.
    assert len(seen) == 4
    assert scan_tree(str(tmp_path / "gone")).files == {}


def test_links_to_one_file_are_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for number in range(50):
        os.link(write_tree(tmp_path, {"x": "1"}) / "x", tmp_path / "deep" / str(number))
    assert len(scan_tree(str(tmp_path)).files) == 51


class Doorkeeper:
    """Lets a unit in when its version is among those that were allowed."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = set(allowed)
        self.asked: list[tuple[str, str]] = []

    def admit(self, before: LoadedUnit | None, after: LoadedUnit) -> LoadedUnit | None:
        self.asked.append((before.version if before else "", after.version))
        return after if after.version in self.allowed else None


def a_guarded_registry(*versions: str, allowed: tuple[str, ...]) -> tuple[Registry, Doorkeeper]:
    """A registry that reads one version after the other under any name."""
    found = iter(versions)
    registry, door = Registry(["/first"], lambda unit: a_unit(unit.name, a_command(unit.name), version=next(found))), Doorkeeper(*allowed)
    registry.admit_by(door.admit)
    return registry, door


def test_a_unit_that_is_not_admitted_yet_leaves_the_old_one_standing() -> None:
    registry, door = a_guarded_registry("1", "2", "2", allowed=("1",))
    seen: list[Snapshot] = []
    registry.subscribe(lambda snapshot, _: seen.append(snapshot))
    unit = UnitId("/first", "one")
    registry.refresh([unit])
    registry.refresh([unit])
    assert registry.snapshot.skills["one"].version == "1"
    assert not registry.wait_until_settled(0.01, [unit])
    assert not registry.wait_until_settled(0.01)
    assert registry.wait_until_settled(0.01, [UnitId("/first", "other")])
    assert len(seen) == 1, "nothing happened that anybody could see"
    door.allowed.add("2")
    registry.refresh([unit])
    assert registry.snapshot.skills["one"].version == "2"
    assert registry.wait_until_settled(0.01)
    assert door.asked == [("", "1"), ("1", "2"), ("1", "2")]


def test_a_unit_that_waits_for_its_admission_holds_no_other_up() -> None:
    registry, _ = a_guarded_registry("2", "1", allowed=("1",))
    registry.refresh([UnitId("/first", "one"), UnitId("/first", "two")])
    assert registry.snapshot.keys == ("two",)


def test_a_unit_that_goes_while_it_waits_is_gone() -> None:
    found: list[LoadedUnit | None] = [a_unit("one", a_command("one"), version="1"), a_unit("one", a_command("one"), version="2"), None]
    registry, unit = Registry(["/first"], lambda _: found.pop(0)), UnitId("/first", "one")
    registry.admit_by(Doorkeeper("1").admit)
    for _ in range(3):
        registry.refresh([unit])
    assert registry.wait_until_settled(0.01)
    assert registry.snapshot.keys == ()


def test_who_waits_for_an_admission_is_woken_by_it() -> None:
    registry, door = a_guarded_registry("2", "2", allowed=())
    registry.refresh([UnitId("/first", "one")])
    settled: list[bool] = []
    waiting = threading.Thread(target=lambda: settled.append(registry.wait_until_settled(30)))
    waiting.start()
    door.allowed.add("2")
    registry.refresh([UnitId("/first", "one")])
    waiting.join(5)
    assert settled == [True]


def test_a_unit_that_waits_is_read_again_only_when_it_changes(tmp_path: Path) -> None:
    folder = a_command_folder(tmp_path / "one")
    registry = a_registry(tmp_path)
    read: list[UnitId] = []
    load = Loader().load
    watched = Registry(registry.roots, lambda unit: [read.append(unit), load(unit)][1])  # type: ignore[func-returns-value]
    watched.load()
    watched.admit_by(lambda before, after: None if before is not None else after)
    (folder / "run.sh").write_bytes(RUN_SCRIPT + b"# newer\n")
    for _ in range(3):
        watched.find_current("one")
        watched.rescan()
    assert len(read) == 2


def test_whoever_looks_outside_the_roots_and_fails_keeps_nobody_from_being_served(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    a_command_folder(tmp_path / "root" / "one")
    a_command_folder(tmp_path / "else" / "two")
    answers: list[object] = [OSError("broken"), [UnitId(str(tmp_path / "else"), "two")], OSError("broken again")]

    def find() -> list[UnitId]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer  # type: ignore[return-value]

    registry = Registry([str(tmp_path / "root")], Loader().load, find)
    assert registry.load() == 1
    assert "outside the roots failed" in caplog.text and "OSError: broken" in caplog.text
    registry.rescan()
    assert registry.snapshot.keys == ("one", "two")
    registry.rescan()
    assert registry.snapshot.keys == ("one", "two")


@pytest.mark.flow
def test_a_first_load_that_fails_is_logged_and_made_good_by_the_watch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    a_command_folder(tmp_path / "one")
    loads = [RuntimeError("nobody foresaw this")]

    def load(unit: UnitId) -> LoadedUnit | None:
        if loads:
            raise loads.pop()
        return Loader().load(unit)

    registry = Registry([str(tmp_path)], load)
    watch = Watch(registry)
    try:
        assert load_and_watch(registry, watch) is None
        assert "the first load failed" in caplog.text and "nobody foresaw this" in caplog.text
        assert watch.wait_until_watching(5.0)
        assert registry.snapshot.keys == ("one",)
    finally:
        watch.stop()
