"""Which plugins are installed: found by entry point, and nothing is paid where there are none."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from market.plugins.find import find_entries

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, name: str, *, group: str = "market", value: str = "os") -> None:
    metadata = folder / f"{name.replace('-', '_')}-2.1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.1\n")
    (metadata / "entry_points.txt").write_text(f"[console_scripts]\nx = x:y\n\n[{group}]\n{name} = {value}\n")


def test_plugins_are_found_with_their_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "b-plugin")
    install(tmp_path, "a-plugin", value="os:path")
    install(tmp_path, "not-ours", group="market.skills")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = find_entries()
    assert [(one.name, one.distribution, one.version) for one in found] == [
        ("a-plugin", "a-plugin", "2.1"),
        ("b-plugin", "b-plugin", "2.1"),
    ]
    assert (found[0].load(), found[1].load()) == (sys.modules["posixpath"], sys.modules["os"])


def test_an_archive_on_the_path_is_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "tree", "zipped")
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        for path in (tmp_path / "tree").rglob("*"):
            archive.write(path, path.relative_to(tmp_path / "tree"))
    monkeypatch.syspath_prepend(str(tmp_path / "app.zip"))
    assert [one.name for one in find_entries()] == ["zipped"]


@pytest.mark.parametrize("installed", [False, True])
def test_the_library_is_loaded_only_where_a_plugin_is(tmp_path: Path, installed: bool) -> None:
    install(tmp_path, "another", group="market" if installed else "market.skills")
    code = "import sys; from market.plugins.find import find_entries; n = len(find_entries()); print(n, 'importlib.metadata' in sys.modules)"
    path = [str(tmp_path), str(__import__("market").__path__[0]).removesuffix("/market"), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": ":".join(path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == (["1", "True"] if installed else ["0", "False"])


def test_an_unreadable_path_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "/nowhere", "/root/\udcff"])
    assert find_entries() == ()


def test_a_broken_distribution_stands_for_itself_and_can_t_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "good")
    install(tmp_path, "half-there")
    (tmp_path / "half_there-2.1.dist-info" / "METADATA").unlink()
    monkeypatch.syspath_prepend(str(tmp_path))
    good, broken = find_entries()
    assert (good.name, good.fault) == ("good", "")
    assert (broken.name, broken.version, broken.place) == ("half_there", "2.1", str(tmp_path / "half_there-2.1.dist-info"))
    with pytest.raises(ValueError, match=r"half_there-2\.1\.dist-info: its METADATA is missing"):
        broken.load()


def test_of_a_distribution_that_is_there_twice_the_first_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "far", "my-plugin")
    install(tmp_path / "far", "other")
    install(tmp_path / "near", "My_Plugin", group="console")
    monkeypatch.syspath_prepend(str(tmp_path / "far"))
    monkeypatch.syspath_prepend(str(tmp_path / "near"))
    assert [one.name for one in find_entries()] == ["other"]
