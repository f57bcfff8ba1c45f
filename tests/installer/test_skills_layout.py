"""A root of layout `skills`: several directories of one pack come, change and go together, whatever fails or dies on the way."""

from __future__ import annotations

import errno
import io
import os
from typing import TYPE_CHECKING

import pytest

from market.errors import Conflict, MarketError
from market.installer.layout import Layout, load_layout, set_layout
from market.installer.listing import list_directories, list_installed
from market.installer.receipt import Origin
from market.installer.root import Root, open_root
from market.installer.transaction import Arrival, install_packs, lock_root, uninstall_packs
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.trust.verify import verify_archive
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.installer.builders import NOW, check_at_rest, install
from tests.installer.faulty_disk import FaultyDisk, die, fail_with, faulty_calls, run_until_death

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.flow


def an_arrival(version: str = "1.0.0", guides: tuple[str, ...] = ("first", "second")) -> Arrival:
    contents = {
        "pack.yaml": f"name: many\nversion: {version}\nsummary: x\n".encode(),
        "tools/skill.json": a_skill_json(name="third", description=f"Third of {version}."),
        "tools/run.sh": RUN_SCRIPT,
        **{f"skills/{name}/SKILL.md": a_skill_md(name, body=version) for name in guides},
    }
    archive = io.BytesIO()
    write_archive(MemorySource(contents, executables=frozenset({"tools/run.sh"})), archive)
    return Arrival(verify_archive(archive, Given()), "acme", Origin("archive", "/many.zip"))


def a_root(path: Path) -> Root:
    root = open_root(path / "skills", create=True)
    with lock_root(root) as locked:
        set_layout(locked, Layout.SKILLS)
    return root


def body_versions(root: Root) -> set[str]:
    texts = {path.parent.name: path.read_text() for path in root.path.glob("[!.]*/SKILL.md")}
    return {
        version
        for name, text in texts.items()
        for version in ("1.0.0", "2.0.0")
        if text.rstrip().endswith(version) or f"Third of {version}" in text
    }


OLD, NEW = {"first", "second", "third"}, {"first", "third", "fourth"}


def standing(root: Root) -> set[str]:
    return {path.name for path in root.path.iterdir() if not path.name.startswith(".")}


def check_whole(root: Root) -> None:
    """Either the three skills of 1.0.0 or the three of 2.0.0, and nothing else."""
    check_at_rest(root)
    state = standing(root), body_versions(root)
    assert state in ((OLD, {"1.0.0"}), (NEW, {"2.0.0"})), state


def upgrade(root: Root) -> None:
    install(root, an_arrival("2.0.0", ("first", "fourth")))


@pytest.fixture
def prepared(memory_path: Path) -> Root:
    root = a_root(memory_path)
    install(root, an_arrival())
    assert (standing(root), body_versions(root)) == (OLD, {"1.0.0"})
    return root


def recover(root: Root) -> None:
    with lock_root(root, timeout_seconds=5):
        pass


def test_one_change_a_pack_and_a_directory_a_skill(prepared: Root) -> None:
    changes = install(prepared, an_arrival("2.0.0", ("first", "fourth")))
    assert [(one.name, one.action, one.old_version, one.new_version) for one in changes] == [
        ("many", "upgraded", "1.0.0", "2.0.0")
    ]
    check_whole(prepared)
    (row,) = list_installed(prepared)
    assert (row.name, row.skills, row.state) == ("many", ("first", "fourth", "third"), "intact")
    assert [one.name for one in list_directories(prepared)] == ["first", "fourth", "third"]
    assert [one.action for one in install(prepared, an_arrival("2.0.0", ("first", "fourth")))] == ["unchanged"]
    with lock_root(prepared) as locked:
        assert [one.action for one in uninstall_packs(locked, ["many"], NOW)] == ["removed"]
    assert standing(prepared) == set()
    check_at_rest(prepared)


def test_an_edit_of_one_skill_is_the_pack_s(prepared: Root) -> None:
    (prepared.tree("first") / "SKILL.md").write_text("mine")
    (row,) = list_installed(prepared)
    assert (row.state, row.edited_files) == ("edited", ("first/SKILL.md",))
    with pytest.raises(Conflict, match="first was edited"):
        upgrade(prepared)
    (change,) = install(prepared, an_arrival("2.0.0", ("first", "fourth")), overwrite_edits=True)
    assert (prepared.path / ".market/backups").joinpath(
        os.path.basename(change.backup), "SKILL.md.kept"
    ).read_text() == "mine"


def test_killed_at_every_call_all_skills_are_old_or_new(prepared: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    reached, seen = 0, set()
    for at in range(1, 500):
        disk = FaultyDisk(at, die)

        def work(disk: FaultyDisk = disk) -> None:
            with faulty_calls(monkeypatch, disk):
                upgrade(prepared)

        died = run_until_death(work)
        recover(prepared)
        check_whole(prepared)
        seen.add("new" if standing(prepared) == NEW else "old")
        if standing(prepared) == NEW:
            install(prepared, an_arrival())
            check_whole(prepared)
        if not died:
            break
        reached = at
    assert reached > 60 and seen == {"old", "new"}


def test_failing_at_every_call_nothing_is_mixed(prepared: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(1, 500):
        disk = FaultyDisk(at, fail_with(errno.EIO))
        failed = False
        with faulty_calls(monkeypatch, disk):
            try:
                upgrade(prepared)
            except (MarketError, OSError):
                failed = True
        recover(prepared)
        check_whole(prepared)
        if standing(prepared) == NEW:
            install(prepared, an_arrival())
        if not disk.reached:
            assert not failed and at > 60
            return
    raise AssertionError("the transaction never ended")


def test_a_layout_is_chosen_once(prepared: Root) -> None:
    with lock_root(prepared) as locked:
        set_layout(locked, Layout.SKILLS)
        with pytest.raises(Conflict, match="holds packs in the layout skills"):
            set_layout(locked, Layout.PACKS)
        uninstall_packs(locked, ["many"], NOW)
        set_layout(locked, Layout.PACKS)
    assert load_layout(prepared) is Layout.PACKS


def test_a_layout_nobody_knows_is_refused(prepared: Root) -> None:
    prepared.layout.write_text("towers")
    with pytest.raises(MarketError, match="names no layout"):
        install(prepared, an_arrival())
    prepared.layout.write_bytes(b"\xff")
    with pytest.raises(MarketError, match="names no layout"):
        load_layout(prepared)


def test_what_was_installed_by_another_pack_is_named(prepared: Root) -> None:
    archive = io.BytesIO()
    write_archive(MemorySource({"SKILL.md": a_skill_md("first")}), archive)
    other = Arrival(verify_archive(archive, Given(name="first")), "acme", Origin("archive", "/x.zip"))
    with lock_root(prepared) as locked, pytest.raises(Conflict, match="taken by the pack many"):
        install_packs(locked, [other], NOW)
    check_whole(prepared)
