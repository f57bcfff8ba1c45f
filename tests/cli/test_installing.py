"""install, upgrade, list, uninstall, search, browse, show."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from market.errors import Unavailable
from tests.client.server import Answer, Asked, serve
from tests.fake_index import URL

if TYPE_CHECKING:
    from tests.cli.shell import Shell


def publish(shell: Shell, version: str = "1.0.0", name: str = "my-pack", body: str = "") -> None:
    folder = shell.pack(name, version=version)
    (folder / "notes.txt").write_text(body or version)
    shell("publish", folder)


def test_install_says_what_from_where_into_where(shell: Shell) -> None:
    publish(shell)
    ran = shell("install", "my-pack")
    assert "installed my-pack 1.0.0 (3 files, " in ran.out and f"from {URL} by alice into {shell.root}" in ran.out
    assert f"no running host serves {shell.root}" in ran.out
    assert (shell.root / "my-pack" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert "unchanged my-pack" in shell("install", "my-pack").out


@pytest.mark.parametrize(
    ("requirement", "version"),
    [("my-pack", "1.2.0"), ("my-pack@1.0.0", "1.0.0"), ("my-pack<1.2", "1.1.0"), ("@alice/My_Pack", "1.2.0")],
)
def test_a_requirement_chooses_the_release(shell: Shell, requirement: str, version: str) -> None:
    for one in ("1.0.0", "1.1.0", "1.2.0"):
        publish(shell, one)
    document = shell("install", requirement, "--json").json
    assert document["items"][0]["version"] == version
    assert document["items"][0]["origin"]["index"] == URL
    assert document["items"][0]["origin"]["location"].startswith(f"{URL}/v1/blobs/sha256/")


def test_a_folder_and_an_archive_are_installed_by_path(shell: Shell) -> None:
    shell.pack("one")
    shell.pack("two")
    shell("archive", "two")
    assert shell("install", "./one", "two-1.0.0.zip", "--json").json["items"][1]["origin"]["kind"] == "archive"
    rows = shell("list", "--json").json["items"]
    assert [(row["name"], row["state"], row["index"]) for row in rows] == [("one", "live", ""), ("two", "live", "")]


def test_a_bare_name_is_never_a_folder_but_the_hint_names_it(shell: Shell) -> None:
    shell.pack()
    assert "for the folder here write ./my-pack" in shell("install", "my-pack", expect=3).err
    assert "installed my-pack 9.0" in shell("install", "my-pack", "--version", "9.0").out


def test_several_packs_are_all_or_none(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack", "no-such-pack", expect=3)
    assert shell("list", "--json").json["items"] == []


def test_a_root_given_by_flag_or_environment(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack", "--root", "elsewhere")
    assert (shell.folder / "elsewhere" / "my-pack" / "run.sh").is_file()
    shell.environ["MARKET_ROOTS"] = f"{shell.folder}/by-env:relative"
    ran = shell("install", "my-pack")
    assert (shell.folder / "by-env" / "my-pack").is_dir()
    assert "relative" in ran.err
    rows = shell("list", "--root", "elsewhere", "--root", "by-env", "--json").json["items"]
    assert [row["root"] for row in rows] == [str(shell.folder / "elsewhere"), str(shell.folder / "by-env")]


def test_a_dry_run_of_install_writes_nothing_into_the_root(shell: Shell) -> None:
    publish(shell)
    ran = shell("install", "my-pack", "--dry-run", "--root", str(shell.folder))
    assert "would install my-pack 1.0.0" in ran.out and "run.sh" in ran.out
    assert not (shell.folder / ".market").exists()


def test_an_edited_pack_is_kept_unless_forced(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    (shell.root / "my-pack" / "notes.txt").write_text("mine")
    assert shell("list", "--json").json["items"][0]["state"] == "edited"
    publish(shell, "1.1.0")
    assert "notes.txt" in shell("install", "my-pack", expect=4).err
    assert "kept in" in shell("install", "my-pack", "--force").out


def test_a_changed_publisher_must_be_accepted(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    publish(shell, "1.1.0")
    shell.index.owners["my-pack"] = "mallory"
    assert "mallory" in shell("upgrade", expect=4).err
    assert shell("install", "my-pack", "--accept-publisher", "--json").json["items"][0]["publisher"] == "mallory"


def test_upgrade_takes_what_is_newer_and_nothing_else(shell: Shell) -> None:
    publish(shell)
    publish(shell, name="other")
    shell.pack("local")
    shell("install", "my-pack", "other", "./local")
    assert "up to date" in shell("upgrade").out
    publish(shell, "1.5.0")
    assert "would upgrade my-pack 1.5.0 (was 1.0.0)" in shell("upgrade", "--dry-run").out
    document = shell("update", "--json").json
    assert [(row["name"], row["action"], row["old_version"], row["version"]) for row in document["items"]] == [
        ("my-pack", "upgraded", "1.0.0", "1.5.0")
    ]
    shell("upgrade", "no-such-pack", expect=3)
    shell("upgrade", "local", expect=3)


def test_upgrade_never_downgrades(shell: Shell) -> None:
    publish(shell)
    publish(shell, "2.0.0")
    shell("install", "my-pack")
    shell.index.releases["my-pack"]["2"].state = "yanked"
    assert "up to date" in shell("upgrade").out


def test_uninstall(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    assert "would remove my-pack" in shell("uninstall", "my-pack", "--dry-run").out
    assert f"removed my-pack 1.0.0 from {shell.root}" in shell("remove", "My_Pack").out
    assert not (shell.root / "my-pack").exists()
    assert "no pack 'my-pack' is installed" in shell("uninstall", "my-pack", expect=3).err


def test_an_unmanaged_folder_is_not_overwritten(shell: Shell) -> None:
    publish(shell)
    (shell.root / "my-pack").mkdir(parents=True)
    (shell.root / "my-pack" / "mine.txt").write_text("mine")
    shell("install", "my-pack", expect=4)
    assert (shell.root / "my-pack" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-pack"], 3),
        (["my-pack@9.9"], 3),
        (["@bob/my-pack"], 4),
        (["my-pack@1.0+x"], 2),
        (["a b c"], 2),
        (["./nowhere"], 3),
        (["broken.zip"], 5),
        (["./empty"], 2),
        (["my-pack", "--root", "/proc/nothing"], 3),
        (["my-pack", "--index", "http://[::1"], 2),
        (["my-pack", "./empty", "--name", "x"], 2),
    ],
)
def test_an_install_that_can_t_be_leaves_no_pack(shell: Shell, arguments: list[str], code: int) -> None:
    publish(shell)
    (shell.folder / "empty").mkdir()
    (shell.folder / "broken.zip").write_bytes(b"PK\x05\x06")
    ran = shell("install", *arguments, expect=code)
    assert ran.err.startswith("error: ") and "hint: " in ran.err and ran.out == ""
    assert shell("install", *arguments, "--json", expect=code).error["hint"]
    assert shell("list", "--json").json["items"] == []
    assert not any(path.endswith((".part", ".zip")) and "staging" in path for path in shell.everything())


def test_wrong_bytes_from_an_index_are_refused_and_nothing_stays(shell: Shell) -> None:
    publish(shell)
    shell.index.change_archive = lambda archive: archive.replace(b"cat", b"rm ")
    assert "not the one that the index promised" in shell("install", "my-pack", expect=5).err
    assert list(shell.home.archives.iterdir()) == [] and shell("list", "--json").json["items"] == []


def test_an_index_that_is_away(shell: Shell) -> None:
    for command in (["install", "x"], ["search", "x"], ["show", "x"], ["browse"], ["whoami"]):
        shell.index.refuse_next = Unavailable("the index can't be reached", hint="start it")
        assert shell(*command, "--json", expect=7).error["code"] == "unavailable"


def test_a_running_host_is_waited_for(shell: Shell) -> None:
    publish(shell)
    looks = 0

    def answer(asked: Asked) -> Answer:
        nonlocal looks
        looks += 1
        there = (shell.root / "my-pack").is_dir() and looks > 1
        row = {
            "key": "my_pack",
            "name": "my_pack",
            "description": "",
            "class": "safe",
            "kind": "command",
            "pack": "my-pack",
        }
        rows = [{**row, "version": "1.0.0", "state": "live", "root": str(shell.root)}] if there else []
        return Answer(body=json.dumps({"items": rows, "total": len(rows)}).encode())

    with serve(answer) as host:
        shell.home.running_hosts.mkdir(parents=True)
        shell.home.host_admin_token.write_text("skh_admin")
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(shell.root)]}
        (shell.home.running_hosts / f"{os.getpid()}.json").write_text(json.dumps(note))
        assert "my-pack 1.0.0 live in " in (out := shell("install", "my-pack").out) and f"ms at {host.url}" in out
        assert "my-pack gone in " in shell("uninstall", "my-pack").out
    assert host.asked[0].authorization == "Bearer skh_admin"


def test_a_host_that_can_t_be_asked_does_not_spoil_the_install(shell: Shell) -> None:
    publish(shell)
    with serve(lambda asked: Answer(401, b'{"code": "unauthenticated", "detail": "who are you"}')) as host:
        shell.home.running_hosts.mkdir(parents=True)
        note = {"pid": os.getpid(), "url": host.url, "roots": [str(shell.root)]}
        (shell.home.running_hosts / f"{os.getpid()}.json").write_text(json.dumps(note))
        assert "can't be asked: who are you" in shell("install", "my-pack").out
    assert (shell.root / "my-pack").is_dir()


def test_search_browse_and_show(shell: Shell) -> None:
    assert f"{URL} has no packs yet" in shell("browse").out
    assert "nothing" in shell("search", "zzz").out
    publish(shell)
    publish(shell, name="second")
    assert "second" in shell("search", "sec").out
    assert [row["name"] for row in shell("browse", "--json").json["items"]] == ["my-pack", "second"]
    assert f"pages: {URL}/" in shell("browse").out
    assert "1 of 2 packs" in shell("browse", "--limit", "1").out
    shown = shell("info", "my-pack@1.0.0", "--json").json
    assert shown["release"]["version"] == "1.0.0" and shown["page"] == f"{URL}/packs/my-pack"
    assert "my_pack" in shell("show", "my-pack").out
    assert "market search nothing" in shell("show", "nothing", expect=3).err


def test_an_empty_home_lists_nothing_and_creates_nothing(shell: Shell) -> None:
    assert shell("list").out == "nothing is installed\n"
    assert not shell.home.path.exists()
    shell("list", "--root", "nowhere", expect=3)
