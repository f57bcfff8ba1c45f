from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from market.errors import MarketError, Untrusted
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root
from market.installer.tree_state import TreeState, read_unit
from tests.installer.builders import an_arrival, check_at_rest, install, read_tree, version_of
from tests.installer.faulty_disk import FaultyDisk, die, faulty_calls, run_until_death

if TYPE_CHECKING:
    from pathlib import Path

OLD = (an_arrival("first", "1.0.0"), an_arrival("second", "1.0.0"))
NEW = (an_arrival("first", "2.0.0"), an_arrival("second", "2.0.0"))


# At which call an upgrade must die so that so many trees are switched: found once, since it takes dozens of tries.
_CALLS: dict[int, int] = {}
BEFORE_ANY_SWITCH = 50


def interrupt(root: Root, monkeypatch: pytest.MonkeyPatch, *, switched: int) -> None:
    """Kill an upgrade of two packs at the call where so many trees are switched and an intent is open."""
    number = _CALLS.get(switched, max((BEFORE_ANY_SWITCH, *(_CALLS[one] for one in _CALLS if one < switched)))) - 1
    while True:
        number += 1
        shutil.rmtree(root.path, ignore_errors=True)
        open_root(root.path, create=True)
        install(root, *OLD)

        def work_and_die(number: int = number) -> None:
            with faulty_calls(monkeypatch, FaultyDisk(number, die)):
                install(root, *NEW)

        assert run_until_death(work_and_die)
        if (
            os.listdir(root.intents)
            and [version_of(root, name) for name in ("first", "second")].count("2.0.0") == switched
        ):
            _CALLS[switched] = number
            return


def recover(root: Root) -> list[tuple[bool, tuple[str, ...]]]:
    with lock_root(root) as locked:
        return [(one.finished, one.left) for one in locked.recovered]


def rewrite_intent(root: Root, change: dict[str, Any]) -> None:
    (name,) = os.listdir(root.intents)
    path = root.intents / name
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))


@pytest.mark.parametrize(("switched", "version"), [(0, "1.0.0"), (1, "2.0.0"), (2, "2.0.0")])
def test_one_switched_tree_takes_all_with_it(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, switched: int, version: str
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=switched)
    assert recover(root) == [(switched > 0, ())]
    assert version_of(root, "first") == version_of(root, "second") == version
    check_at_rest(root)
    assert recover(root) == []


@pytest.mark.parametrize("switched", [0, 1])
def test_what_a_program_wrote_into_its_tree_does_not_change_the_decision(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, switched: int
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=switched)
    for name in ("first", "second"):
        (root.tree(name) / "skill.json").write_text("{}")
        (root.tree(name) / "log.txt").write_text("ran")
    assert recover(root) == [(switched > 0, ())]
    assert os.listdir(root.staging) == os.listdir(root.intents) == []
    with read_unit(root, "first") as reading:
        assert reading.edited_files == ("log.txt", "skill.json")


@pytest.mark.parametrize(("switched", "version"), [(0, "1.0.0"), (1, "2.0.0"), (2, "2.0.0")])
def test_in_a_copied_root_the_contents_decide(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, switched: int, version: str
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=switched)
    copy = Root(memory_path / "copy")
    shutil.copytree(root.path, copy.path)
    shutil.rmtree(root.path)
    assert recover(copy) == [(switched > 0, ())]
    assert version_of(copy, "first") == version_of(copy, "second") == version
    check_at_rest(copy)


@pytest.mark.parametrize("switched", [0, 1])
def test_a_device_may_have_another_number_after_a_restart(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, switched: int
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=switched)
    (name,) = os.listdir(root.intents)
    path = root.intents / name
    device = root.path.stat().st_dev
    path.write_text(path.read_text().replace(f"[{device},", "[987654321,"))
    assert recover(root) == [(switched > 0, ())]
    assert version_of(root, "second") == ("2.0.0" if switched else "1.0.0")
    check_at_rest(root)


@pytest.mark.parametrize("switched", [0, 1])
def test_what_somebody_else_put_there_meanwhile_is_left_alone(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, switched: int
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=switched)
    os.rename(root.tree("second"), memory_path / "moved")
    root.tree("second").mkdir()
    (root.tree("second") / "work.txt").write_text("mine")
    assert recover(root) == [(switched > 0, ("second",))]
    assert read_tree(root.tree("second")) == {"work.txt": b"mine"}
    assert version_of(root, "first") == ("2.0.0" if switched else "1.0.0")
    assert os.listdir(root.intents) == os.listdir(root.staging) == []


def test_a_deleted_stage_does_not_block_the_root(memory_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=1)
    shutil.rmtree(root.staging)
    assert recover(root) == [(True, ("second",))]
    assert version_of(root, "first") == "2.0.0"
    assert install(root, *NEW)[1].new_version == "2.0.0"
    check_at_rest(root)


@pytest.mark.parametrize("change", [{"schema": 2}, {"moves": [{}]}, {"root": "x"}])
def test_an_intent_that_can_not_be_read_stops_writers_only(
    memory_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    root = Root(memory_path / "root")
    interrupt(root, monkeypatch, switched=0)
    rewrite_intent(root, change)
    with pytest.raises(Untrusted, match="can't be read"):
        recover(root)
    with read_unit(root, "first") as reading:
        assert reading.state is TreeState.INTACT
    assert version_of(root, "first") == "1.0.0"


def test_an_orphan_stage_is_cleared(root: Root) -> None:
    install(root, *OLD)
    orphan = root.staging / "0123"
    (orphan / "first" / "deep" / "er").mkdir(parents=True)
    (orphan / "first.json").write_text("{}")
    assert recover(root) == []
    check_at_rest(root)


def test_state_that_is_a_link_is_refused(root: Root, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    root.state.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MarketError, match="is a link"), lock_root(root):
        pass
    assert os.listdir(tmp_path / "elsewhere") == []
