from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

import market.installer.tree_state as tree_state_module
from market.disk.identity import identity_at
from market.disk.lease import is_leased
from market.errors import NotFound
from market.installer.listing import installed_names, list_installed
from market.installer.receipt import load_receipt
from market.installer.root import Root
from market.installer.tree_state import TreeState, UnitReading, read_unit
from tests.installer.builders import NOW, an_arrival, install

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from market.installer.receipt import Receipt


@pytest.fixture
def tree(root: Root) -> Path:
    install(root, an_arrival())
    return root.tree("echo-args")


def states_of(root: Root, *, thorough: bool = False) -> tuple[TreeState, tuple[str, ...]]:
    with read_unit(root, "echo-args", thorough=thorough) as reading:
        return reading.state, reading.edited_files


def test_an_untouched_tree_is_intact_and_open(root: Root, tree: Path) -> None:
    with read_unit(root, "echo-args") as reading:
        assert (reading.state, reading.edited_files) == (TreeState.INTACT, ())
        assert reading.identity == identity_at(tree)
        assert reading.folder is not None
        assert reading.folder.source.read("notes/version.txt") == b"1.0.0"
        assert is_leased(tree)
    assert not is_leased(tree)


EDITS: dict[str, tuple[Callable[[Path], object], str]] = {
    "content": (lambda tree: (tree / "skill.json").write_text("{}"), "skill.json"),
    "same size": (lambda tree: (tree / "notes/version.txt").write_text("1.0.1"), "notes/version.txt"),
    "mode": (lambda tree: (tree / "run.sh").chmod(0o644), "run.sh"),
    "added": (lambda tree: (tree / "notes/mine.txt").write_text(""), "notes/mine.txt"),
    "hidden": (lambda tree: (tree / ".env").write_text(""), ".env"),
    "folder": (lambda tree: (tree / "empty").mkdir(), "empty/"),
    "missing": (lambda tree: (tree / "run.sh").unlink(), "run.sh"),
    "link": (lambda tree: (tree / "run.sh").rename(tree / "x").parent.joinpath("run.sh").symlink_to("x"), "run.sh"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_is_seen_and_named(root: Root, tree: Path, edit: str) -> None:
    change, path = EDITS[edit]
    change(tree)
    state, edited = states_of(root)
    assert state is TreeState.EDITED
    assert path in edited


def test_caches_and_times_are_no_edits(root: Root, tree: Path) -> None:
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "x.pyc").write_text("")
    os.utime(tree / "run.sh")
    assert states_of(root) == (TreeState.INTACT, ())


def test_only_a_thorough_look_reads_what_pretends_to_be_untouched(root: Root, tree: Path) -> None:
    (tree / "notes/version.txt").write_text("1.0.1")
    os.utime(tree / "notes/version.txt", (NOW.timestamp(), NOW.timestamp()))
    assert states_of(root) == (TreeState.INTACT, ())
    assert states_of(root, thorough=True) == (TreeState.EDITED, ("notes/version.txt",))


def test_a_copied_root_keeps_its_receipts(root: Root, tree: Path, tmp_path: Path) -> None:
    shutil.copytree(root.path, tmp_path / "copy", copy_function=shutil.copy)
    copy = Root(tmp_path / "copy")
    assert states_of(copy) == (TreeState.INTACT, ())


def test_a_missing_tree_an_unmanaged_one_and_nothing(root: Root, tree: Path, tmp_path: Path) -> None:
    shutil.rmtree(tree)
    reading = read_unit(root, "echo-args")
    assert (reading.state, reading.folder, len(reading.missing)) == (TreeState.MISSING, None, 3)
    root.tree("Dropped Folder").mkdir()
    (tmp_path / "work").mkdir()
    root.tree("linked").symlink_to(tmp_path / "work")
    for name in ("Dropped Folder", "linked"):
        with read_unit(root, name) as reading:
            assert (reading.state, reading.receipt) == (TreeState.UNMANAGED, None)
            assert reading.folder is not None
    with pytest.raises(NotFound):
        read_unit(root, "nothing")
    assert installed_names(root) == ("echo-args",)
    assert [(one.name, one.state) for one in list_installed(root)] == [("echo-args", TreeState.MISSING)]


def test_a_root_without_state_is_empty(root: Root) -> None:
    assert list_installed(root) == ()
    assert os.listdir(root.path) == []


def test_a_switch_between_two_looks_is_noticed(root: Root, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, upgrades = load_receipt, [an_arrival(version="2.0.0")]

    def upgrade_first(root: Root, name: str) -> Receipt | None:
        if upgrades:
            install(root, upgrades.pop())
        return real(root, name)

    monkeypatch.setattr(tree_state_module, "load_receipt", upgrade_first)
    with read_unit(root, "echo-args") as reading:
        assert (reading.state, str(reading.receipt and reading.receipt.version)) == (TreeState.INTACT, "2.0.0")


def test_a_reading_closes_itself(root: Root, tree: Path) -> None:
    def look() -> UnitReading:
        return read_unit(root, "echo-args")

    reading = look()
    assert is_leased(tree)
    del reading
    assert not is_leased(tree)
