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


def broken_files(name: str, entry_points: str | None = None, *, without: str = "") -> dict[str, bytes]:
    skill = f"{name.replace('-', '_')}/one/SKILL.md"
    files = wheel_files({skill: a_skill_md("one")}, name=name, entry_points=entry_points)
    return {path: content for path, content in files.items() if not (without and path.endswith(without))}


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (broken_files("bad-one", without="/METADATA"), "its METADATA is missing, or gives no name and version"),
        (broken_files("bad-one", "[market.skills\nx = bad_one\n"), "no entry of it can be read"),
        (broken_files("bad-one", "[market.skills]\nbad_one\n"), "its entry_points.txt or METADATA can't be read ("),
        (broken_files("bad-one", "[market.skills]\nx = !!bad\n"), "the entry point x = '!!bad' names no module"),
        (broken_files("bad-one", "[market.skills]\nx = ../x\n"), "names no module"),
        (broken_files("bad-one", "[market.skills]\nx = nowhere.to.go\n"), "names the package 'nowhere', which isn't a directory"),
        (broken_files("bad-one") | {"bad_one-1.0.0.dist-info/entry_points.txt": b"[market.skills]\n\xff = x\n"}, "UnicodeDecodeError"),
    ],
)  # fmt: skip
def test_a_broken_distribution_is_a_row_and_stops_nothing(
    tmp_path: Path, site: Path, caplog: pytest.LogCaptureFixture, files: dict[str, bytes], why: str
) -> None:
    write_tree(site, files)
    write_tree(site, wheel_files(CONTENT))
    registry = a_registry(tmp_path / "root")
    assert list(registry.snapshot.keys) == ["echo_args", "greeting"]
    place = str(site / "bad_one-1.0.0.dist-info")
    (row,) = [one for one in registry.snapshot.dropped() if one.path == place]
    assert why in row.cause
    assert (row.pack, row.version, row.source) == ("bad-one", "1.0.0", "plugin")
    assert [problem.rule for problem in row.problems] == ["distribution-broken"]
    assert f"skill loader: parse {place}: " in caplog.text
    write_tree(site, broken_files("bad-one"))
    registry.rescan()
    assert list(registry.snapshot.keys) == ["echo_args", "greeting", "one"]
    assert place not in [one.path for one in registry.snapshot.dropped()]


def test_each_entry_that_leads_nowhere_is_told(tmp_path: Path, site: Path) -> None:
    write_tree(site, wheel_files(entry_points="[market.skills]\na = nowhere\nb = ../x\nc = demo_pack\n"))
    snapshot = a_registry(tmp_path / "root").snapshot
    assert snapshot.keys == ("greeting",)
    assert len(snapshot.dropped()) == 2


def test_what_is_gone_stays_gone_while_its_files_stand_there(site: Path) -> None:
    write_tree(site, wheel_files(CONTENT))
    packs = EnvironmentPacks(Loader().load)
    (unit,) = packs.find()
    assert packs.load(unit) is not None
    points = site / "demo_pack-1.0.0.dist-info" / "entry_points.txt"
    content = points.read_bytes()
    points.unlink()
    for _ in range(3):  # not only in the round in which it went
        assert packs.find() == ()
        assert packs.load(unit) is None
    points.write_bytes(content)
    assert packs.find() == (unit,)
    assert packs.load(unit) is not None
