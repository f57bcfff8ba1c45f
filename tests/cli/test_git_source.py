"""`market install git+file://...`: a pack out of a repository, with its commit in the receipt."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from market.installer.receipt import load_receipt
from market.installer.root import Root
from tests.factories import RUN_SCRIPT, a_skill_json

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", *arguments]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True, text=True).stdout.strip()


@pytest.fixture
def repository(shell: Shell) -> Path:
    files = {"skill.json": a_skill_json(name="my_pack"), "run.sh": RUN_SCRIPT}
    folder = shell.pack("work/packs/my-pack", files=files).parents[1]
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    git(folder, "tag", "v1")
    return folder


def test_a_folder_of_a_repository_is_installed_and_its_commit_is_recorded(shell: Shell, repository: Path) -> None:
    target = f"git+file://{repository}@v1#subdirectory=packs/my-pack"
    commit = git(repository, "rev-parse", "v1")
    item = shell("install", target, "--json").json["items"][0]
    exact = f"git+file://{repository}@{commit}#subdirectory=packs/my-pack"
    assert item["origin"] == {"kind": "git", "location": exact, "index": ""}
    receipt = load_receipt(Root(shell.root), "my-pack")
    assert receipt is not None and (receipt.origin.kind, receipt.origin.location) == ("git", exact)
    assert (shell.root / "my-pack" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert "unchanged my-pack" in shell("install", exact).out


def test_a_lock_file_brings_back_the_same_commit(shell: Shell, repository: Path) -> None:
    shell("install", f"git+file://{repository}@main#subdirectory=packs/my-pack", "--lock")
    first = shell("list", "--json").json["items"][0]["tree_digest"]
    (repository / "packs" / "my-pack" / "notes.txt").write_text("later")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x")
    shell.home.path.rename(shell.folder / "old-home")
    assert "installed my-pack" in shell("install", "--locked").out
    assert shell("list", "--json").json["items"][0]["tree_digest"] == first


def test_a_link_out_of_the_repository_is_refused(shell: Shell, repository: Path) -> None:
    (repository / "packs" / "my-pack" / "secret").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "x")
    target = f"git+file://{repository}#subdirectory=packs/my-pack"
    assert f"{target} holds no good pack" in shell("install", target, expect=2).err
    assert not (shell.root / "my-pack").exists()


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [
        ("git+ssh://host.example/a", 2, "aren't fetched"),
        ("git+https://user:pw@host.example/a", 6, "user or token"),
        ("git+file:///nothing/here", 7, "git can't read"),
    ],
)
def test_what_is_not_fetched_says_why(shell: Shell, target: str, code: int, words: str) -> None:
    assert words in shell("install", target, expect=code).err
    assert not (shell.root / "my-pack").exists()
