"""market.lock: written, followed, restored exactly, frozen; and sync, which makes a root equal it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from market.client import wire
from market.errors import Unavailable
from market.installer.receipt import load_receipt
from market.installer.root import Root, open_root
from tests.cli.test_installing import publish
from tests.cli.test_wheel_trees import a_made_arrival
from tests.factories import a_skill_md
from tests.fake_index import URL
from tests.installer.builders import install
from tests.wheels import a_code_wheel, a_wheel, code_files, write_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.transaction import Arrival
    from tests.cli.shell import Shell


@pytest.fixture
def lock(shell: Shell) -> Path:
    """A lock file of `my-pack` 1.0.0 and `other` 1.0.0, whose root is then emptied; my-pack 1.1.0 has come since."""
    publish(shell)
    publish(shell, name="other")
    shell("install", "my-pack", "other", "--lock")
    publish(shell, "1.1.0")
    shutil.rmtree(shell.root)
    return shell.folder / "market.lock"


def installed(shell: Shell, *options: str) -> dict[str, str]:
    return {row["name"]: row["version"] for row in shell("list", *options, "--json").json["items"]}


def test_install_writes_a_lock_only_when_asked_or_where_one_is(shell: Shell) -> None:
    publish(shell)
    publish(shell, name="other")
    shell("install", "my-pack")
    assert not (shell.folder / "market.lock").exists()
    shell("install", "my-pack", "--lock")
    text = (shell.folder / "market.lock").read_text()
    assert (
        '\nname = "my-pack"\nversion = "1.0.0"\npublisher = "alice"\nsource = "index"\n' in text
        and f'index = "{URL}"' in text
    )
    assert "wrote market.lock" in shell("install", "other").err
    assert (shell.folder / "market.lock").read_text().count("[[pack]]") == 2
    shell("uninstall", "my-pack")
    assert 'name = "my-pack"' not in (shell.folder / "market.lock").read_text()


def test_a_lock_follows_the_root_that_it_describes_and_no_other(shell: Shell) -> None:
    publish(shell)
    publish(shell, name="other")
    shell("install", "my-pack", "--root", "skills", "--lock")
    before = (shell.folder / "market.lock").read_text()
    assert 'root = "skills"\n' in before
    shell("install", "other")
    assert (shell.folder / "market.lock").read_text() == before
    shell("install", "other", "--root", "./skills")
    assert (shell.folder / "market.lock").read_text().count("[[pack]]") == 2


def test_upgrade_brings_the_lock_up_to_date(shell: Shell, lock: Path) -> None:
    shell("install", "--locked")
    shell("upgrade")
    assert 'version = "1.1.0"' in lock.read_text()


def test_locked_restores_exactly(shell: Shell, lock: Path) -> None:
    before = lock.read_bytes()
    document = shell("install", "--locked", "--json").json
    assert [(row["name"], row["version"]) for row in document["items"]] == [("my-pack", "1.0.0"), ("other", "1.0.0")]
    assert lock.read_bytes() == before and shell("lock", "--check").code == 0
    shutil.rmtree(shell.root)
    shell("install", "--locked", "other")
    assert installed(shell) == {"other": "1.0.0"}


def test_locked_takes_a_yanked_release_and_the_cache_where_the_index_is_away(shell: Shell, lock: Path) -> None:
    shell.index.releases["my-pack"]["1"].state = "yanked"
    shell("install", "--locked", "my-pack")
    shutil.rmtree(shell.root)
    shell.index.refuse_next = Unavailable("no route", hint="plug it in")
    assert "taken from the archives kept here: no route" in shell("install", "--locked", "my-pack").err


def change_digest(shell: Shell, lock: Path) -> None:
    lines = lock.read_text().splitlines()
    digest = shell.index.releases["my-pack"]["1"].verified.tree_digest
    lock.write_text(
        "\n".join(line if not line.startswith("tree") else f'tree = "sha256:{"0" * 64}"' for line in lines) + "\n"
    )
    assert digest not in lock.read_text()


def another_publisher(shell: Shell, lock: Path) -> None:
    shell.index.owners["my-pack"] = "mallory"


def release_gone(shell: Shell, lock: Path) -> None:
    del shell.index.releases["my-pack"]["1"]


def quarantined(shell: Shell, lock: Path) -> None:
    shell.index.releases["my-pack"]["1"].state = "quarantined"


def unnamed(shell: Shell, lock: Path) -> None:
    lock.write_text(lock.read_text().replace('"my-pack"', '"my-pace"'))


@pytest.mark.parametrize("spoil", [change_digest, another_publisher, release_gone, quarantined, unnamed])
def test_locked_exits_4_where_it_can_t_be_exact(shell: Shell, lock: Path, spoil: object) -> None:
    assert callable(spoil)
    spoil(shell, lock)
    before = lock.read_bytes()
    error = shell("install", "--locked", "my-pack", "--json", expect=4).error
    assert error["code"] == "conflict" and error["hint"]
    assert installed(shell) == {} and lock.read_bytes() == before
    assert shell("sync", "--json", expect=4).code == 4


def test_wrong_bytes_of_a_locked_release_are_untrusted(shell: Shell, lock: Path) -> None:
    shutil.rmtree(shell.home.archives)
    shell.index.change_archive = lambda archive: archive.replace(b"cat", b"rm ")
    shell("install", "--locked", expect=5)
    assert installed(shell) == {}


def test_frozen_refuses_to_touch_the_lock(shell: Shell, lock: Path) -> None:
    before = lock.read_bytes()
    shell("install", "other", "--frozen")
    error = shell("install", "my-pack", "--frozen", "--json", expect=4).error
    assert error["details"]["names"] == ["my-pack"] and installed(shell) == {"other": "1.0.0"}
    shell("install", "my-pack@1.0.0", "--frozen")
    assert lock.read_bytes() == before


def test_sync_installs_keeps_and_prunes_only_when_told(shell: Shell, lock: Path) -> None:
    shell.pack("local")
    before = lock.read_bytes()
    shell("install", "./local", "--frozen", expect=4)
    shell("install", "my-pack", "--root", "elsewhere")
    shell("install", "./local", "--root", "elsewhere")
    planned = shell("sync", "--root", "elsewhere", "--dry-run", "--json").json
    assert [(row["name"], row["action"]) for row in planned["items"]] == [
        ("my-pack", "would install"),
        ("other", "would install"),
    ]
    ran = shell("sync", "--root", "elsewhere")
    assert "2 to install, 0 to uninstall, 0 as they are" in ran.err and "kept without --prune: local" in ran.err
    assert installed(shell, "--root", "elsewhere") == {"local": "1.0.0", "my-pack": "1.0.0", "other": "1.0.0"}
    assert [row["action"] for row in shell("sync", "--root", "elsewhere", "--prune", "--json").json["items"]] == [
        "removed"
    ]
    assert installed(shell, "--root", "elsewhere") == {"my-pack": "1.0.0", "other": "1.0.0"}
    assert shell("sync", "--root", "elsewhere", "--json").json["same"] == ["my-pack", "other"]
    assert lock.read_bytes() == before


def test_sync_is_one_transaction(shell: Shell, lock: Path) -> None:
    publish(shell, "1.0.0", name="third")
    shell("install", "third")
    del shell.index.releases["other"]["1"]
    shell("sync", "--prune", expect=4)
    assert installed(shell) == {"third": "1.0.0"}


def test_sync_finds_edits_and_keeps_them_aside_when_forced(shell: Shell, lock: Path) -> None:
    shell("sync")
    (shell.root / "other" / "notes.txt").write_text("mine")
    assert "notes.txt" in shell("sync", expect=4).err
    assert "kept in" in shell("sync", "--force").out
    assert (shell.root / "other" / "notes.txt").read_text() == "1.0.0"


def test_a_clone_of_the_project_finds_its_own_folders_and_root(shell: Shell) -> None:
    (shell.folder / "project").mkdir()
    shell.pack("local").rename(shell.folder / "project/local")
    shell("install", "./project/local", "--root", "project/skills", "--lock", "project/market.lock")
    text = (shell.folder / "project/market.lock").read_text()
    assert 'source = "folder"\nlocation = "local"\n' in text and 'root = "skills"\n' in text
    shutil.rmtree(shell.folder / "project/skills")
    (shell.folder / "project").rename(shell.folder / "clone")
    shell("sync", "clone/market.lock")
    assert (shell.folder / "clone/skills/local/run.sh").is_file()
    (shell.folder / "clone/local/run.sh").write_text("#!/bin/sh\nrm -rf /\n")
    shutil.rmtree(shell.folder / "clone/skills")
    assert "not the one in the lock file" in shell("sync", "clone/market.lock", expect=4).err


def test_lock_of_a_root_and_its_check(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    shell("lock", "--check", expect=4)
    assert shell("lock", "--dry-run", "--json").json["items"][0]["name"] == "my-pack"
    assert not (shell.folder / "market.lock").exists()
    assert "wrote market.lock: 1 of" in shell("lock").out
    assert "unchanged: market.lock" in shell("lock").out
    shell("lock", "--check")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["install"], 2),
        (["install", "--locked"], 3),
        (["sync"], 3),
        (["sync", "no.lock"], 3),
        (["lock", "--root", "nowhere"], 3),
    ],
)
def test_without_a_lock_file(shell: Shell, arguments: list[str], code: int) -> None:
    before = shell.everything()
    ran = shell(*arguments, expect=code)
    assert "hint: " in ran.err and shell.everything() == before


def test_a_lock_file_that_is_none_is_named(shell: Shell) -> None:
    (shell.folder / "market.lock").write_bytes(b"\xff")
    publish(shell)
    for arguments in (["install", "--locked"], ["sync"], ["lock"]):
        assert "market.lock" in shell(*arguments, expect=2).err


def test_a_lock_s_index_answers_for_its_own_documents(shell: Shell, lock: Path) -> None:
    shell.index.change_answer = lambda path, answer: (
        answer | {"tree_digest": "sha256:" + "0" * 64}
        if path == wire.release_path("other", "1.0.0") and isinstance(answer, dict)
        else answer
    )
    assert shell("install", "--locked", "--json", expect=4).error["details"]["what"] == "tree"


@pytest.mark.parametrize("form", ["folder", "archive", "wheel"])
def test_what_is_restored_from_a_kept_archive_knows_where_it_came_from(shell: Shell, form: str) -> None:
    source = shell.pack("local") if form == "folder" else write_wheel(shell.folder, a_code_wheel())
    if form == "archive":
        shell("archive", shell.pack("local"), "-o", "local.zip")
        source = shell.folder / "local.zip"
    shell("install", source, "--lock", "--root", "skills")
    (name,) = installed(shell, "--root", "skills")
    before = (shell.folder / "market.lock").read_text()
    shutil.rmtree(shell.folder / "skills" / name)
    shell("sync")
    assert str(source) in shell("why", name, "--root", "skills").out
    (shell.folder / "sub").mkdir()
    below = replace(shell, folder=shell.folder / "sub")
    below("lock", "../market.lock")
    assert (shell.folder / "market.lock").read_text() == before
    shutil.rmtree(shell.folder / "skills")
    below("sync", "../market.lock")
    shutil.rmtree(shell.folder / "sub")
    assert f"from:        {form.replace('wheel', 'archive')} {source}\n" in shell("why", name, "--root", "skills").out


def test_what_is_restored_from_an_index_has_an_absolute_address(shell: Shell, lock: Path) -> None:
    del lock
    shell("install", "--locked")
    receipt = load_receipt(open_root(shell.root, create=False), "my-pack")
    assert receipt is not None and receipt.origin.location.startswith(f"{URL}/v1/")


@pytest.mark.parametrize("target", [(), ("--target", "claude", "--scope", "project")], ids=["packs", "skills"])
@pytest.mark.parametrize("form", ["folder", "wheel"])
def test_accepted_edits_are_not_what_the_lock_says_of_either_kind(shell: Shell, form: str, target: tuple[str, ...]) -> None:
    guide = {"SKILL.md": a_skill_md("greeting")}
    source = write_wheel(shell.folder, a_wheel()) if form == "wheel" else shell.pack("demo-pack", guide)
    shell("install", source, "--lock", *target)
    where = shell.folder / ".claude/skills" if target else shell.root
    (path,) = where.rglob("SKILL.md")
    assert "0 to install" in shell("sync", "--dry-run", "--root", where).out
    path.write_bytes(path.read_bytes() + b"More.\n")
    shell("verify", "--accept", path.relative_to(where).parts[0], "--root", where)
    assert "1 to install" in shell("sync", "--dry-run", "--root", where).out
    assert "was edited, which was accepted" in shell("lock", "--check", "--root", where).err
    shell("sync", "--force", "--root", where)
    assert b"More." not in path.read_bytes()
    assert "0 to install" in shell("sync", "--dry-run", "--root", where).out


def a_tree_made_here(code: bytes, pins: str) -> Arrival:
    """A wheel with what was fetched for it; of the same pins another Python takes other files."""
    return a_made_arrival({**code_files(), ".site/helper.py": code, ".site/market-dependencies.txt": pins.encode()})


def test_two_pythons_with_the_same_pins_don_t_rewrite_the_lock_for_each_other(shell: Shell) -> None:
    pins, where = f"helper==1.0 --hash=sha256:{'a' * 64}\n", shell.folder / "skills"
    install(open_root(where, create=True), a_tree_made_here(b"X = 311\n", pins))
    shell("lock", "--root", "skills")
    before = (shell.folder / "market.lock").read_text()
    shutil.rmtree(where)
    install(open_root(where, create=True), a_tree_made_here(b"X = 312\n", pins))
    assert "equals" in shell("sync").out
    shell("lock", "--check")
    shell("lock")
    assert (shell.folder / "market.lock").read_text() == before
    install(open_root(where, create=True), a_tree_made_here(b"X = 313\n", pins.replace("1.0", "1.1")))
    shell("lock", "--check", expect=4)
    shell("lock")
    receipt, text = load_receipt(Root(where), "demo-pack"), (shell.folder / "market.lock").read_text()
    assert receipt and all(one in text for one in ("helper==1.1", receipt.tree_digest, receipt.archive_digest))
    shell("lock", "--check")
