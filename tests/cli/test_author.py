"""new, check, archive, publish, upload."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.client.server import Answer, serve
from tests.factories import a_skill_json, a_skill_md
from tests.fake_index import URL

if TYPE_CHECKING:
    from tests.cli.shell import Shell


@pytest.mark.parametrize("kind", ["guide", "command"])
def test_a_new_pack_is_good_and_can_be_published_as_it_is(shell: Shell, kind: str) -> None:
    made = shell("new", "my-pack", "--kind", kind, "--json").json
    assert made["kind"] == kind and made["files"]
    assert "good" in shell("check", "my-pack").out
    assert "published my-pack" in shell("publish", "./my-pack").out


def test_new_never_overwrites(shell: Shell) -> None:
    shell("new", "my-pack")
    before = shell.everything()
    assert "already exists" in shell("new", "my-pack", expect=4).err
    assert shell("new", "Bad Name!", expect=2).err.count("hint") == 1
    shell("new", "nowhere/my-pack", expect=3)
    assert shell.everything() == before


def test_a_dry_run_of_new_writes_nothing(shell: Shell) -> None:
    assert "would make" in shell("new", "my-pack", "--dry-run").out
    assert shell.everything() == {}


def test_check_names_every_problem_with_its_place(shell: Shell) -> None:
    shell.pack(files={"skill.json": b'{"name": "Bad Name", "description": "x", "entry": "gone.sh"}'})
    ran = shell("check", "./my-pack", "--json", expect=2)
    (item,) = ran.json["items"]
    assert not item["publishable"] and len(item["problems"]) > 1
    assert {"rule", "severity", "text", "file", "line", "column", "reason", "fix"} == set(item["problems"][0])
    text = shell("check", "./my-pack", expect=2).out
    assert all(problem["text"] in text for problem in item["problems"])


def test_check_agrees_with_publish(shell: Shell) -> None:
    shell.pack("classless", skill_class=None)
    assert "an index would refuse it" in shell("check", "classless", expect=2).out
    ran = shell("publish", "classless", expect=2)
    assert "class" in ran.err
    assert shell.index.releases == {}
    shell("install", "./classless")


def test_check_takes_several_paths_and_archives(shell: Shell) -> None:
    shell.pack()
    shell("archive", "./my-pack")
    ran = shell("validate", "my-pack", "my-pack-1.0.0.zip", "--json")
    assert [item["publishable"] for item in ran.json["items"]] == [True, True]


def test_check_says_what_is_left_out(shell: Shell) -> None:
    folder = shell.pack()
    (folder / ".DS_Store").write_bytes(b"")
    assert ".DS_Store" in shell("check", "my-pack").out


def test_a_damaged_archive_is_a_verdict(shell: Shell) -> None:
    with zipfile.ZipFile(shell.folder / "odd.zip", "w", zipfile.ZIP_DEFLATED) as odd:
        odd.writestr("../skill.json", a_skill_json())
    (item,) = shell("check", "odd.zip", "--json", expect=2).json["items"]
    assert item["problems"]


@pytest.mark.parametrize("name", ["skill.json", "pack.yaml"])
def test_the_published_schemas_are_printed(shell: Shell, name: str) -> None:
    printed = shell("schema", name)
    assert printed.json == shell("schema", name, "--json").json
    assert printed.json["$id"].startswith("urn:skill-market:") and printed.json["$schema"].endswith("2020-12/schema")
    assert "pack.yaml" in shell("schema", "other.json", expect=2).err


def test_the_same_folder_gives_the_same_archive(shell: Shell) -> None:
    shell.pack()
    first = shell("archive", "my-pack", "-o", "a.zip", "--json").json
    second = shell("archive", "my-pack", "-o", "b.zip", "--json").json
    assert first["archive_digest"] == second["archive_digest"] and first["tree_digest"] == second["tree_digest"]
    assert (shell.folder / "a.zip").read_bytes() == (shell.folder / "b.zip").read_bytes()
    assert [row["path"] for row in first["files"]] == ["run.sh", "skill.json"]


def test_an_installed_pack_can_be_archived(shell: Shell) -> None:
    shell.pack()
    shell("install", "./my-pack", "--version", "2.0")
    (shell.folder / "my-pack").rename(shell.folder / "source")
    assert "wrote my-pack-2.0.zip" in shell("archive", "my-pack").out
    shell("archive", "no-such-pack", expect=3)


def test_a_dry_run_of_archive_lists_files_and_writes_nothing(shell: Shell) -> None:
    shell.pack()
    before = shell.everything()
    assert "run.sh" in shell("archive", "my-pack", "--dry-run").out
    assert shell.everything() == before


def test_publish_says_what_it_did_and_where(shell: Shell) -> None:
    shell.pack()
    ran = shell("publish", "./my-pack")
    assert ran.out.startswith("published my-pack 1.0.0 (2 files, ") and ran.out.strip().endswith(f"to {URL} as alice")
    assert "unchanged" in shell("publish", "./my-pack").out


def test_publish_takes_several_folders_and_sends_none_if_one_is_bad(shell: Shell) -> None:
    shell.pack("one")
    shell.pack("two")
    bad = shell.pack("bad", files={"skill.json": b"{"})
    shell("publish", "one", bad, "two", expect=2)
    assert shell.index.releases == {}
    document = shell("publish", "one", "two", "--json").json
    assert [(row["name"], row["status"]) for row in document["items"]] == [("one", "published"), ("two", "published")]
    (shell.folder / "two" / "more.txt").write_text("more")
    shell("publish", "one", "two", expect=4)


def test_auto_takes_the_next_patch_only_where_files_changed(shell: Shell) -> None:
    folder = shell.pack(
        files={"SKILL.md": b"---\nname: my-pack\ndescription: Says hello. Use when greeting.\n---\nhello\n"}
    )
    versions = [shell("publish", folder, "--version", "auto", "--json").json["items"][0] for _ in range(2)]
    (folder / "more.txt").write_text("more")
    versions += [shell("publish", folder, "--version", "auto", "--json").json["items"][0] for _ in range(2)]
    found = [(row["version"], row["status"]) for row in versions]
    assert found == [("0.1.0", "published"), ("0.1.0", "unchanged"), ("0.1.1", "published"), ("0.1.1", "unchanged")]


def test_a_dry_run_of_publish_sends_nothing_and_lists_the_files(shell: Shell) -> None:
    shell.pack()
    ran = shell("publish", "my-pack", "--dry-run")
    assert "would publish my-pack 1.0.0" in ran.out and "run.sh" in ran.out
    assert shell.index.releases == {}
    shell("publish", "my-pack")
    assert "unchanged" in shell("publish", "my-pack", "--dry-run").out


def test_name_and_version_override_the_pack(shell: Shell) -> None:
    shell.pack()
    assert "published other 3.0" in shell("publish", "my-pack", "--name", "Other", "--version", "3.0").out
    shell.pack("second")
    shell("publish", "my-pack", "second", "--name", "other", expect=2)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere"], 3),
        (["my-pack", "--version", "1.0-1"], 2),
        (["my-pack", "--name", "!"], 2),
        (["my-pack", "--index", "nonsense"], 2),
        (["my-pack", "--token", "skm_wrong"], 6),
        (["my-pack", "--token", "a b"], 2),
        (["empty"], 2),
        (["my-pack/skill.json"], 2),
    ],
)
def test_a_publish_that_can_t_be_leaves_everything_as_it_was(shell: Shell, arguments: list[str], code: int) -> None:
    shell.pack()
    (shell.folder / "empty").mkdir()
    before = shell.everything()
    ran = shell("publish", *arguments, expect=code)
    assert ran.err.startswith("error: ") and "hint: " in ran.err and ran.out == ""
    assert shell("publish", *arguments, "--json", expect=code).error["hint"]
    assert shell.everything() == before and shell.index.releases == {}


def test_without_a_token_publish_says_how_to_log_in(shell: Shell) -> None:
    shell.pack()
    shell.environ["MARKET_TOKEN"] = ""
    assert "log in" in shell("publish", "my-pack", expect=6).err


def test_an_archive_is_uploaded(shell: Shell) -> None:
    shell.pack()
    shell("archive", "my-pack")
    assert "published my-pack 1.0.0 (" in shell("upload", "my-pack-1.0.0.zip").out
    assert shell("upload", "my-pack-1.0.0.zip", "--json").json["created"] is False
    assert "would send my-pack 1.0.0" in shell("upload", "my-pack-1.0.0.zip", "--dry-run").out
    assert "market publish" in shell("upload", "my-pack", expect=2).err
    (shell.folder / "no.zip").write_bytes(b"not a zip")
    assert "hint" in shell("upload", "no.zip", expect=5).err
    shell("upload", "gone.zip", expect=3)


def test_an_archive_is_sent_into_a_host(shell: Shell) -> None:
    shell.pack()
    shell("archive", "my-pack")
    answer = Answer(body=b'{"name": "my-pack", "version": "1.0.0", "action": "installed", "live_ms": 3.2}')
    with serve(lambda asked: answer) as host:
        shell.environ["MARKET_HOST_URL"] = host.url
        for arguments in (
            ["my-pack-1.0.0.zip", "--host", host.url],
            ["my-pack-1.0.0.zip", "--host"],
            ["--host", "my-pack-1.0.0.zip"],
        ):
            assert f"installed my-pack 1.0.0 in 3 ms at {host.url}" in shell("upload", *arguments).out
        assert "would send" in shell("upload", "my-pack-1.0.0.zip", "--host", "--dry-run").out
    assert [(asked.method, asked.path) for asked in host.asked] == [("PUT", "/v1/marketplace/upload")] * 3
    assert "Missing argument" in shell("upload", "--host", host.url, expect=2).err


def test_quiet_says_nothing_of_what_went_well(shell: Shell) -> None:
    shell.pack()
    for command in (
        ["new", "x"],
        ["archive", "my-pack"],
        ["publish", "my-pack"],
        ["install", "my-pack"],
        ["uninstall", "my-pack"],
    ):
        ran = shell(*command, "--quiet")
        assert ran.out == ran.err == "", command


def test_a_guide_of_many_files_keeps_its_executable_bits(shell: Shell) -> None:
    shell.pack(files={"SKILL.md": a_skill_md("my-pack"), "scripts/do.sh": b"#!/bin/sh\n", "data/x.txt": b"x"})
    rows = shell("archive", "my-pack", "--json").json["files"]
    assert {row["path"]: row["executable"] for row in rows} == {
        "SKILL.md": False,
        "data/x.txt": False,
        "scripts/do.sh": True,
    }
