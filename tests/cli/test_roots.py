"""Roots of every sort: links, mounts, read-only, inside each other, open to everybody. Each works or is refused, and says so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_installing import publish
from tests.installer.test_real_disks import mounted

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def test_a_root_that_is_a_link_is_followed_and_said(shell: Shell) -> None:
    publish(shell)
    (shell.folder / "real").mkdir()
    (shell.folder / "linked").symlink_to("real")
    ran = shell("install", "my-pack", "--root", "linked")
    assert f"{shell.folder}/linked is a link: packs are installed in {shell.folder}/real" in ran.err
    assert (shell.folder / "real/my-pack/run.sh").is_file() and (shell.folder / "linked").is_symlink()
    assert shell("run", "my_pack", "--root", "linked", "--args", "{}").code == 0
    assert [row["name"] for row in shell("list", "--root", "real", "--json").json["items"]] == ["my-pack"]
    shell("uninstall", "my-pack", "--root", "linked")
    assert not (shell.folder / "real/my-pack").exists()


@pytest.mark.parametrize(("target", "code"), [("nowhere", 2), ("loop", 2), ("file", 2)])
def test_a_link_that_leads_to_no_directory_is_refused(shell: Shell, target: str, code: int) -> None:
    publish(shell)
    (shell.folder / "file").write_text("x")
    (shell.folder / "loop").symlink_to("loop")
    (shell.folder / "linked").symlink_to(target)
    before = shell.everything()
    assert "root" in shell("install", "my-pack", "--root", "linked", expect=code).err
    assert shell.everything() == before


def test_a_mount_point_works_and_is_said_once(shell: Shell) -> None:
    publish(shell)
    publish(shell, "1.1.0")
    with mounted(shell.folder / "disk", "-t", "tmpfs", "none"):
        ran = shell("install", "my-pack@1.0.0", "--root", "disk")
        assert "is a mount point: while it isn't mounted, its packs are missing" in ran.err
        assert "upgraded" in (ran := shell("install", "my-pack", "--root", "disk")).out and "mount point" not in ran.err
        shell("uninstall", "my-pack", "--root", "disk")
        assert os.listdir(shell.folder / "disk") == [".market"]


def test_a_read_only_root_is_read_and_not_written(shell: Shell) -> None:
    publish(shell)
    publish(shell, "1.1.0")
    with mounted(shell.folder / "disk", "-t", "tmpfs", "none"):
        shell("install", "my-pack@1.0.0", "--root", "disk")
        subprocess.run(["mount", "-o", "remount,ro", str(shell.folder / "disk")], check=True)
        for command in (["install", "my-pack"], ["upgrade"], ["uninstall", "my-pack"], ["sync"]):
            if command == ["sync"]:
                shell("lock", "--root", "disk")
                (shell.folder / "market.lock").write_text(
                    (shell.folder / "market.lock").read_text().replace("1.0.0", "1.0.1")
                )
            error = shell(*command, "--root", "disk", "--json", expect=6).error
            assert f"{shell.folder}/disk" in error["message"] and error["why"] == "Read-only file system"
        assert shell("list", "--root", "disk", "--json").json["items"][0]["version"] == "1.0.0"
        assert shell("run", "my_pack", "--root", "disk", "--args", "{}").code == 0


def test_roots_within_each_other_are_refused(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack", "--root", "outer")
    for inner in ("outer/inner", "outer/my-pack", "outer/my-pack/deep/er", "outer/.market"):
        error = shell("install", "my-pack", "--root", inner, "--json", expect=4).error
        assert f"it lies inside the root {shell.folder}/outer" in error["why"], inner
    shell("install", "my-pack", "--root", "around/inner")
    assert "the root" in shell("install", "my-pack", "--root", "around", expect=4).err
    (shell.folder / "way").symlink_to("outer")
    shell("install", "my-pack", "--root", "way/inner", expect=4)
    assert not (shell.folder / "outer/inner").exists()


def test_a_world_writable_root_is_said_each_time(shell: Shell) -> None:
    publish(shell)
    (shell.folder / "open").mkdir()
    (shell.folder / "open").chmod(0o1777)
    for _ in range(2):
        ran = shell("install", "my-pack", "--root", "open")
        assert "everybody on this machine may change what is in the root" in ran.err and "mode 1777" in ran.err
    assert (shell.folder / "open/.market").stat().st_mode & 0o777 == 0o700
    assert (shell.folder / "open/my-pack").stat().st_mode & 0o777 == 0o755


def test_only_what_was_installed_is_removed(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    mine = shell.root / "mine" / "SKILL.md"
    mine.parent.mkdir()
    mine.write_text("mine")
    (shell.root / "note.txt").write_text("mine too")
    (shell.root / "my-pack" / "work.txt").write_text("results")
    backup = shell("uninstall", "my-pack", "--json").json["items"][0]["backup"]
    assert Path(backup, "work.txt").read_text() == "results"
    assert mine.read_text() == "mine" and (shell.root / "note.txt").read_text() == "mine too"
    shell("uninstall", "mine", expect=3)
    assert mine.read_text() == "mine"
