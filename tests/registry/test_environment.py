"""Plugin packs that pip put into this process's own environment: found, unmanaged, content only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from market.model import Kind, State
from market.registry.environment import EnvironmentPacks
from market.registry.loader import Loader
from market.registry.registry import Registry
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.registry.trees import a_guide_folder, write_tree
from tests.wheels import a_python_skill, wheel_files

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {
    "demo_pack/greeting/SKILL.md": a_skill_md(),
    "demo_pack/echo/skill.json": a_skill_json(version=None),
    "demo_pack/echo/run.sh": RUN_SCRIPT,
    "demo_pack/skills.py": b"raise SystemExit('imported')\n",
    "demo_pack/echo_py/skill.json": a_python_skill(),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def a_registry(root: Path) -> Registry:
    packs = EnvironmentPacks(Loader().load)
    registry = Registry([str(root)], packs.load, packs.find)
    registry.load()
    return registry


def test_a_pack_is_found_by_its_entry_point_and_its_content_is_unmanaged(tmp_path: Path, site: Path) -> None:
    write_tree(site, wheel_files(CONTENT, version="2.1.0"))
    skills = a_registry(tmp_path / "root").snapshot.skills
    assert {key: (one.pack, one.version, one.state, one.source) for key, one in skills.items()} == {
        "greeting": ("demo-pack", "2.1.0", State.UNMANAGED, "plugin"),
        "echo_args": ("demo-pack", "2.1.0", State.UNMANAGED, "plugin"),
    }
    assert skills["echo_args"].skill.kind is Kind.COMMAND
    assert "demo_pack" not in sys.modules


def test_a_python_skill_says_how_it_could_run(tmp_path: Path, site: Path) -> None:
    write_tree(site, wheel_files(CONTENT))
    (row,) = a_registry(tmp_path / "root").snapshot.dropped()
    assert row.path.endswith("demo_pack/echo_py/skill.json")
    assert (
        row.cause
        == "the code is in Market's own environment; `market install demo-pack` gives it a process of its own"
    )
    assert (row.pack, row.version, row.source) == ("demo-pack", "1.0.0", "plugin")


def test_what_is_installed_later_is_found_by_a_rescan_and_what_is_gone_goes(tmp_path: Path, site: Path) -> None:
    registry = a_registry(tmp_path / "root")
    assert not registry.snapshot.keys
    write_tree(site, wheel_files(CONTENT))
    registry.rescan()
    assert registry.snapshot.keys == ("echo_args", "greeting")
    (site / "demo_pack-1.0.0.dist-info" / "entry_points.txt").unlink()
    registry.rescan()
    assert not registry.snapshot.keys


def test_an_edit_is_seen_and_the_roots_win(tmp_path: Path, site: Path) -> None:
    write_tree(site, wheel_files(CONTENT))
    registry = a_registry(tmp_path / "root")
    write_tree(site, {"demo_pack/greeting/SKILL.md": a_skill_md(description="Greets anew.")})
    registry.rescan()
    assert registry.snapshot.skills["greeting"].skill.description == "Greets anew."
    a_guide_folder(tmp_path / "root" / "greeting")
    registry.rescan()
    assert registry.snapshot.skills["greeting"].pack == "greeting"
    assert registry.snapshot.skills["demo-pack:greeting"].state is State.SHADOWED


def test_entry_points_that_lead_nowhere_stop_nothing(tmp_path: Path, site: Path) -> None:
    write_tree(site, wheel_files(entry_points="[market.skills]\na = nowhere.to.go\nb = ../x\n"))
    assert a_registry(tmp_path / "root").snapshot.keys == ()
