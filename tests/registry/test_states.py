"""In which state a skill is: how its tree stands against its receipt, and what this machine lacks."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from market.disk.identity import Identity
from market.installer.intent import Intent, Move, encode_intent
from market.installer.machine import Machine
from market.installer.receipt import parse_receipt
from market.installer.root import Root, make_state
from market.model import Needs, State
from market.registry.live import SOURCE_PACK
from market.registry.loader import Loader
from market.registry.unit import UnitId
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.installer.builders import an_arrival, install
from tests.registry.trees import a_command_folder, a_registry, load, write_tree

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Root:
    made = Root(tmp_path / "root")
    made.path.mkdir()
    make_state(made)
    return made


def installed(root: Root, skill_class: str = "safe") -> Path:
    """A pack with one command and, in a folder of its own, one guide."""
    manifest = a_skill_json(name="echo_args", **{"class": skill_class})
    install(root, an_arrival("tools", extra={"skill.json": manifest, "guide/SKILL.md": a_skill_md("guide")}))
    return root.tree("tools")


def states(root: Root, integrity: str = "hold") -> dict[str, State]:
    return {live.key: live.state for live in a_registry(root.path, integrity=integrity).snapshot.all_skills()}


def test_an_installed_tree_is_live_and_known_by_its_receipt(root: Root) -> None:
    installed(root)
    (command, guide) = load(root.path, "tools").skills
    assert command.state is guide.state is State.LIVE
    assert (command.pack, command.version, command.source) == ("tools", "1.0.0", SOURCE_PACK)
    assert command.tree_digest.startswith("sha256:") and command.tree_digest == guide.tree_digest


def test_a_folder_without_a_receipt_is_unmanaged_and_has_a_digest_too(root: Root) -> None:
    tree = installed(root)
    shutil.copytree(tree, root.tree("copy"))
    unit = load(root.path, "copy")
    assert {live.state for live in unit.skills} == {State.UNMANAGED}
    assert unit.tree_digest == load(root.path, "tools").tree_digest


def test_a_tree_switched_in_before_its_receipt_is_good_by_the_open_intent(root: Root) -> None:
    tree = installed(root)
    receipt = json.loads(root.receipt("tools").read_text())
    root.receipt("tools").unlink()
    assert states(root)["echo_args"] is State.UNMANAGED
    status, top = tree.stat(), root.path.stat()
    move = Move("tools", Identity(status.st_dev, status.st_ino), None, parse_receipt(receipt, "test"))
    root.intent("t1").write_bytes(encode_intent(Intent("t1", Identity(top.st_dev, top.st_ino), (move,))))
    assert states(root)["echo_args"] is State.LIVE


@pytest.mark.parametrize("skill_class", ["safe", "mutating", "dangerous"])
def test_an_added_file_is_shown_and_loads(root: Root, skill_class: str) -> None:
    (installed(root, skill_class) / "notes.txt").write_text("mine")
    assert states(root) == {"echo_args": State.EDITED, "guide": State.EDITED}
    (live, _) = load(root.path, "tools").skills
    assert live.is_runnable and "notes.txt" in live.problems[0].text


@pytest.mark.parametrize(
    ("skill_class", "expected"), [("safe", State.EDITED), ("mutating", State.HELD), ("dangerous", State.HELD)]
)
def test_a_changed_recorded_file_holds_what_changes_things(root: Root, skill_class: str, expected: State) -> None:
    (installed(root, skill_class) / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
    assert states(root) == {"echo_args": expected, "guide": State.EDITED}
    live = load(root.path, "tools").skills[0]
    assert live.is_runnable is (expected is State.EDITED) and "run.sh" in live.problems[0].text


def test_a_recorded_file_that_is_gone_holds_too(root: Root) -> None:
    (installed(root, "mutating") / "notes" / "version.txt").unlink()
    assert states(root)["echo_args"] is State.HELD


def test_integrity_warn_holds_nothing(root: Root) -> None:
    (installed(root, "dangerous") / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
    assert states(root, integrity="warn")["echo_args"] is State.EDITED


def test_putting_the_file_back_makes_it_live_again(root: Root) -> None:
    tree = installed(root, "mutating")
    before = (tree / "run.sh").read_bytes()
    registry = a_registry(root.path)
    (tree / "run.sh").write_bytes(b"#!/bin/sh\n")
    registry.rescan()
    held = registry.snapshot.find("echo_args")
    assert held is not None and held.state is State.HELD
    (tree / "run.sh").write_bytes(before)
    registry.rescan()
    good = registry.snapshot.find("echo_args")
    assert good is not None and good.state is State.LIVE


def test_a_skill_for_another_system_is_ineligible_and_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path / "guide", {"SKILL.md": a_skill_md("guide", extra="  os: [plan9]\n  requires:\n    bins: [no-such-program]\n")})
    (live,) = load(tmp_path, "guide").skills
    assert live.state is State.INELIGIBLE and not live.is_runnable
    assert "plan9" in live.problems[0].text and "'no-such-program'" in live.problems[0].text


def test_what_was_missing_can_be_provided_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree(tmp_path / "root" / "guide", {"SKILL.md": a_skill_md("guide", extra="  requires:\n    env: [MARKET_TEST_THING]\n")})
    registry = a_registry(tmp_path / "root")
    assert [live.state for live in registry.snapshot.all_skills()] == [State.INELIGIBLE]
    monkeypatch.setenv("MARKET_TEST_THING", "1")
    registry.rescan()
    assert [live.state for live in registry.snapshot.all_skills()] == [State.UNMANAGED]


def test_the_machine_names_each_thing_that_is_missing() -> None:
    machine = Machine({"PATH": "/nonexistent", "HERE": "1"}, system="linux")
    assert machine.missing(Needs(os=("linux",), env=("HERE",))) == ()
    assert machine.missing(Needs(os=("macos", "windows"))) == ("the system macos or windows (this is linux)",)
    assert machine.missing(Needs(bins=("git",)), Needs(bins=("git",), env=("GONE",))) == (
        "the program 'git' on PATH",
        "the environment variable GONE",
    )
    assert machine.missing(Needs(python=">=3.11")) == ()
    assert machine.missing(Needs(python=">=99"))[0].startswith("Python >=99")
    assert machine.missing(Needs(python="nonsense"))
    assert Machine({}, system="darwin").missing(Needs(os=("macOS",))) == ()


def test_a_program_on_path_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {"run.sh": RUN_SCRIPT})
    assert Machine({"PATH": str(tmp_path)}).missing(Needs(bins=("run.sh",))) == ()


def test_the_same_tree_is_parsed_once(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack")
    loader = Loader()
    first, again = (loader.load(UnitId(str(tmp_path), "pack")) for _ in range(2))
    assert first is not None and again is not None
    assert first.skills[0].skill is again.skills[0].skill


def test_a_tree_too_large_to_hash_still_loads(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack")
    with (tmp_path / "pack" / "model.bin").open("wb") as stream:
        os.truncate(stream.fileno(), (64 << 20) + 1)
    (live,) = load(tmp_path, "pack").skills
    assert live.tree_digest == "" and live.is_runnable


def test_a_middling_tree_is_hashed_from_the_disk(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack")
    (tmp_path / "pack" / "table.csv").write_bytes(b"1\n" * 200_000)
    (live,) = load(tmp_path, "pack").skills
    assert live.tree_digest.startswith("sha256:")
