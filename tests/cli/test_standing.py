"""list, outdated, verify, pin, why, enable, disable."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest

from market.errors import Unavailable
from tests.cli.test_installing import publish
from tests.client.server import Answer, Asked, serve
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.fake_index import URL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from tests.cli.shell import Shell


def states(shell: Shell) -> dict[str, str]:
    return {row["name"]: row["state"] for row in shell("list", "--json").json["items"]}


def test_list_says_how_each_pack_stands(shell: Shell) -> None:
    for name in ("aa", "bb", "cc", "dd", "ee", "ff"):
        shell.pack(name, skill_class="mutating" if name == "cc" else "safe")
        shell("install", f"./{name}")
    shutil.copytree(shell.root / "aa", shell.root / "mine")
    for name in ("bb", "cc"):
        (shell.root / name / "run.sh").write_text("#!/bin/sh\necho 1\n")
    (shell.root / "dd" / "skill.json").write_text("{")
    shutil.rmtree(shell.root / "ee")
    shell("disable", "ff")
    assert states(shell) == {
        "aa": "live",
        "bb": "edited",
        "cc": "held",
        "dd": "invalid",
        "ee": "missing",
        "ff": "disabled",
        "mine": "shadowed",
    }
    (shell.root / ".market" / "receipts" / "bb.json").write_text("{")
    ran = shell("list")
    assert states(shell)["bb"] == "broken" and "receipts/bb.json can't be read" in ran.out
    assert "mine: aa:aa is shadowed" in ran.out


def test_a_folder_that_somebody_dropped_is_unmanaged(shell: Shell) -> None:
    shell.pack("dropped")
    shutil.copytree(shell.folder / "dropped", shell.root / "dropped")
    (shell.root / "empty").mkdir()
    assert states(shell) == {"dropped": "unmanaged"}


def test_behind_is_what_outdated_saw_and_list_asks_nobody(shell: Shell) -> None:
    for name in ("my-pack", "other"):
        publish(shell, name=name)
    shell("install", "my-pack", "other")
    assert "up to date (2)" in shell("outdated").out
    publish(shell, "2.0.0")
    shell("pin", "my-pack", "--reason", "wait")
    row = shell("outdated", "--json").json["items"][0]
    assert (row["name"], row["version"], row["newest"], row["status"], row["pinned"]) == (
        "my-pack",
        "1.0.0",
        "2.0.0",
        "outdated",
        "1.0.0",
    )
    shell.index.refuse_next = Unavailable("nobody may ask")
    assert states(shell) == {"my-pack": "behind", "other": "live"}
    assert "my-pack: 2.0.0 is on the index" in shell("list").out and "pinned to 1.0.0" in shell("list").out
    assert shell.index.refuse_next is not None


def test_outdated_offers_nothing_that_can_t_work_here_and_says_so(shell: Shell) -> None:
    publish(shell, name="app")
    shell("install", "app")
    later = {"pack.yaml": b'name: app\nversion: 2.0.0\nneeds: {python: ">=3.99"}\n', "app/SKILL.md": a_skill_md("app")}
    shell.pack("later", later)
    shell("publish", "later")
    (row,) = shell("outdated", "--json").json["items"]
    assert (row["newest"], row["status"]) == ("1.0.0", "current")
    assert row["note"].startswith("2.0.0 is passed over: it needs Python >=3.99 (this is 3.")
    assert "2.0.0 is passed over" in shell("outdated").out
    assert states(shell) == {"app": "live"}
    publish(shell, "1.5.0", name="app")
    (row,) = shell("outdated", "--json").json["items"]
    assert (row["newest"], row["status"], row["note"][:20]) == ("1.5.0", "outdated", "2.0.0 is passed over")


def test_outdated_tells_what_no_longer_stands_and_survives_an_index_that_is_away(shell: Shell) -> None:
    assert "nothing installed came from an index" in shell("outdated").out
    for name in ("aa", "bb", "cc"):
        publish(shell, name=name)
    shell("install", "aa", "bb", "cc")
    shell.index.releases["aa"]["1"].state = "yanked"
    shell.index.releases["aa"]["1"].yanked_reason = "loses data"
    del shell.index.releases["bb"]
    publish(shell, name="bb", body="another")
    rows = {row["name"]: row for row in shell("outdated", "--json").json["items"]}
    assert (rows["aa"]["status"], rows["aa"]["note"]) == ("gone", "the installed release is yanked: loses data")
    assert rows["bb"]["status"] == "changed" and rows["bb"]["note"].count("sha256:") == 2
    shell.index.refuse_next = Unavailable("away")
    assert "aa" in shell("outdated").out
    del shell.index.releases["cc"]
    assert "no longer knows" in shell("outdated").out
    shell("uninstall", "bb", "cc")
    shell.index.refuse_next = Unavailable("away")
    assert shell("outdated", expect=7).out.splitlines()[1].split()[:3] == ["aa", "1.0.0", "unknown"]


def test_an_upgrade_is_keyed_on_digests_not_on_the_text_of_a_version(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    installed = shell("list", "--json").json["items"][0]["tree_digest"]
    del shell.index.releases["my-pack"]
    publish(shell, body="another")
    publish(shell, "2.0.0")
    error = shell("upgrade", "--json", expect=4).error
    assert error["details"]["installed"] == installed != error["details"]["offered"]
    assert installed in error["why"] and error["details"]["offered"] in error["why"]
    assert states(shell) == {"my-pack": "live"}
    assert "another tree" in shell("install", "my-pack@1.0.0", expect=4).err


def test_verify_reads_every_byte_and_accept_takes_the_edits(shell: Shell) -> None:
    assert shell("verify").out == "nothing is installed\n"
    shell.pack("one", skill_class="mutating")
    shell.pack("two")
    shell("install", "./one", "./two")
    assert shell("verify").out == "2 packs and 4 files are as they were installed\n"
    script = shell.root / "one" / "run.sh"
    stamp = script.stat().st_mtime_ns
    script.write_bytes(script.read_bytes().replace(b"cat", b"tac"))
    os.utime(script, ns=(stamp, stamp))
    assert states(shell)["one"] == "live"  # the quick look is deceived, and only it
    (shell.root / "one" / "mine.txt").write_text("")
    ran = shell("verify", "--json", expect=5)
    assert [row["state"] for row in ran.json["items"]] == ["edited", "intact"] and ran.json["differing"] == 1
    assert "  changed run.sh\n  added mine.txt" in shell("verify", "One", expect=5).out
    shell("verify", "two")
    shell("verify", "three", expect=3)
    assert "accepted the edits of one" in shell("verify", "--accept", "one").out
    shell("verify")
    assert states(shell)["one"] == "live" and "edits:       accepted at" in shell("why", "one").out
    assert "is as it was installed" in shell("verify", "--accept", "one").out
    assert "its edits were accepted" in shell("install", "./one", expect=4).err
    shutil.rmtree(shell.root / "two")
    assert "two 1.0.0: missing" in shell("verify", expect=5).out


def test_a_pin_holds_on_every_road(shell: Shell) -> None:
    publish(shell)
    shell("install", "my-pack")
    publish(shell, "2.0.0")
    for arguments in ((), ("--unpin", "--reason", "x"), ("--reason", "")):
        shell("pin", "my-pack", *arguments, expect=2)
    shell("pin", "--reason", "x", expect=2)
    assert "is pinned to 1.0.0" in shell("pin", "my-pack", "--reason", "2.0 loses data").out
    assert "2.0 loses data" in shell("install", "my-pack@2.0.0", expect=4).err
    assert "up to date" in shell("upgrade").out
    assert "2.0 loses data" in shell("upgrade", "my-pack", expect=4).err
    assert (
        "2.0 loses data" in shell("pin").out and "pinned:      to 1.0.0: 2.0 loses data" in shell("why", "my-pack").out
    )
    assert "no longer pinned" in shell("pin", "my-pack", "--unpin").out
    assert "nothing is pinned" in shell("pin").out
    assert "upgraded" in shell("install", "my-pack").out
    shell("pin", "my-pack", "--unpin", expect=3)


def test_why_names_origin_requirers_and_what_is_kept(shell: Shell) -> None:
    publish(shell, name="base")
    manifest = b"name: top\nversion: 1.0.0\nsummary: x\nlicense: MIT\nrequires:\n  - base>=1\n"
    shell.pack("top", files={"pack.yaml": manifest, "skill.json": a_skill_json(name="top"), "run.sh": RUN_SCRIPT})
    shell("install", "base", "./top")
    publish(shell, "1.5.0", name="base")
    shell("upgrade", "base")
    item = shell("why", "base", "--json").json["items"][0]
    assert item["required_by"] == [{"name": "top", "requires": "base>=1"}]
    assert (item["index"], item["publisher"], item["kept"], item["state"]) == (URL, "alice", ["1.0.0"], "live")
    assert "required by: top (as base>=1)" in shell("why", "base").out
    assert "required by: no other pack" in shell("why", "top").out
    shell("why", "nothing", expect=3)


def test_enable_and_disable_take_packs_and_keys(shell: Shell) -> None:
    files = {"a/skill.json": a_skill_json(name="one"), "a/run.sh": RUN_SCRIPT}
    files |= {"b/skill.json": a_skill_json(name="two"), "b/run.sh": RUN_SCRIPT}
    shell.pack("tools", files=files)
    shell("install", "./tools", "--version", "1")
    assert "disabled: the skill one of tools" in shell("disable", "one").out
    assert states(shell)["tools"] == "live" and "tools: one is disabled" in shell("list").out
    assert "is disabled" in shell("run", "one", expect=6).err
    shell("run", "two")
    assert "disabled: all of tools" in shell("disable", "tools").out
    assert "already disabled" in shell("disable", "tools").out
    assert states(shell)["tools"] == "disabled"
    assert "enabled: all of tools" in shell("enable", "tools").out
    shell("run", "one")
    document = shell("enable", "tools:one", "--json").json
    assert document["items"] == [
        {"root": str(shell.root), "pack": "tools", "skill": "one", "action": "not disabled", "hosts": []}
    ]
    assert "did you mean" in shell("disable", "toolz", expect=3).err


@pytest.fixture
def host(shell: Shell) -> Iterator[dict[str, str]]:
    """A host that serves the root and says of every pack what the test puts here: version and state."""
    says = {"version": "1.0.0", "state": "live", "status": "200"}

    def answer(asked: Asked) -> Answer:
        row: dict[str, object] = {"key": "my_pack", "name": "my_pack", "description": "", "class": "safe", "kind": "command"}
        row |= {"pack": "my-pack", "version": says["version"], "state": says["state"], "root": str(shell.root)}
        row |= {"problems": [{"text": "the code is gone"}]} if says["state"] == "invalid" else {}
        return Answer(int(says["status"]), json.dumps({"items": [row] if says["version"] else [], "total": 1}).encode())

    running: AbstractContextManager[object] = serve(answer)
    with running as server:
        shell.home.running_hosts.mkdir(parents=True)
        note = {"pid": os.getpid(), "url": getattr(server, "url"), "roots": [str(shell.root)]}  # noqa: B009
        (shell.home.running_hosts / f"{os.getpid()}.json").write_text(json.dumps(note))
        yield says


def test_where_a_host_serves_the_root_its_word_counts(shell: Shell, host: dict[str, str]) -> None:
    shell.pack()
    shell("install", "./my-pack")
    host["state"] = "ineligible"
    assert states(shell) == {"my-pack": "ineligible"}
    host["state"] = "invalid"
    assert states(shell) == {"my-pack": "invalid"}
    assert "my-pack: my_pack not loaded: the code is gone" in shell("list").out
    host["version"] = ""
    assert "shows nothing of it" in shell("list").out and states(shell) == {"my-pack": "live"}
    host["status"] = "500"
    assert "can't be asked" in shell("list").out and states(shell) == {"my-pack": "live"}


def test_disable_waits_until_the_host_follows(shell: Shell, host: dict[str, str]) -> None:
    shell.pack()
    shell("install", "./my-pack")
    host["state"] = "disabled"
    assert " ms at http://127.0.0.1:" in shell("disable", "my-pack").out
    host["status"] = "401"
    assert "can't be asked" in shell("enable", "my-pack").out
    assert states(shell) == {"my-pack": "live"}


def test_where_each_skill_has_a_directory_pins_and_questions_still_mean_the_pack(shell: Shell) -> None:
    shell.environ["HOME"] = str(shell.folder / "person")
    files = {f"skills/{name}/SKILL.md": a_skill_md(name) for name in ("greet", "wave")}

    def two(version: str) -> None:
        manifest = f"name: two\nversion: {version}\nsummary: x\nlicense: MIT\n".encode()
        shell("publish", shell.pack("two", {"pack.yaml": manifest, **files}))

    two("1.0.0")
    shell("install", "two", "--target", "claude")
    root = ("--root", str(shell.folder / "person/.claude/skills"))
    two("2.0.0")
    assert [(row["name"], row["status"]) for row in shell("outdated", *root, "--json").json["items"]] == [
        ("two", "outdated")
    ]
    shell("pin", "two", "--reason", "wait", *root)
    assert shell("doctor", *root, "--json").json["errors"] == 0
    assert [row["pinned"] for row in shell("list", *root, "--json").json["items"]] == ["1.0.0", "1.0.0"]
    assert "is pinned to 1.0.0" in shell("upgrade", "two", *root, expect=4).err
    shell("pin", "two", "--unpin", *root)
    assert "upgraded" in shell("upgrade", "two", *root).out
    assert "rolled back" in shell("rollback", "two", *root).out
    shell("verify", *root)
    assert shell("why", "greet", *root, "--json").json["items"][0]["kept"] == ["2.0.0"]
