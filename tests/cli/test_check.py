"""`market check`: other programs' verdicts, corrections, SARIF, reasons; and secrets, which stop archive and publish."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.factories import a_skill_md
from tests.pack.test_secrets import TOKENS
from tests.wheels import a_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.shell import Shell

ODD = b"---\nname: my-pack\ndescription: Use when: x\nversion: 1.0.0\n---\nBody\n"
PACKS, MILLISECONDS_A_PACK = 300, 4  # about one on a quiet machine


def guide(shell: Shell, data: bytes = ODD, **files: bytes) -> Path:
    return shell.pack(files={"SKILL.md": data, **{path.replace("__", "."): content for path, content in files.items()}})


def test_other_programs_verdicts_are_shown(shell: Shell) -> None:
    guide(shell)
    ran = shell("check", "my-pack")
    assert "1 skill, lenient: good" in ran.out
    assert (
        "SKILL.md is refused by skills-ref-python, skills-ref-npm, agentskills-tools, npx-skills: mapping values"
        in ran.out
    )
    (item,) = shell("check", "my-pack", "--json").json["items"]
    assert item["grade"] == "lenient"
    (found,) = item["guides"]
    assert [(one["client"], one["accepts"]) for one in found["clients"]][-2:] == [
        ("claude-code", True),
        ("opencode", True),
    ]
    assert all(one["version"] and (one["accepts"] or one["reason"]) for one in found["clients"])


def test_a_command_has_no_grade(shell: Shell) -> None:
    shell.pack()
    assert shell("check", "my-pack", "--json").json["items"][0]["grade"] == ""


def test_fix_shows_the_difference_and_makes_it(shell: Shell) -> None:
    folder = guide(shell, tool__sh=b"#!/bin/sh\r\necho\r\n")
    before = shell.everything()
    ran = shell("check", "my-pack", "--fix", "--dry-run")
    assert "would correct SKILL.md: 'description' was put in quotes" in ran.out
    assert "-description: Use when: x" in ran.out and "+description: 'Use when: x'" in ran.out
    assert shell.everything() == before
    item = shell("check", "my-pack", "--fix", "--json").json["items"][0]
    assert item["grade"] == "strict" and item["fixed"][0]["file"] == "SKILL.md" and item["fixed"][0]["diff"]
    assert (folder / "tool.sh").read_bytes().count(b"\r") == 2
    assert shell("check", "my-pack", "--fix", "--json").json["items"][0]["fixed"] == []
    ran = shell("check", "my-pack", "--fix-line-ends")
    assert "-#!/bin/sh\\r" in ran.out
    assert (folder / "tool.sh").read_bytes() == b"#!/bin/sh\necho\n" and (
        folder / "tool.sh"
    ).stat().st_mode & 0o777 == 0o755


def test_fix_keeps_to_folders_and_to_files_of_their_own(shell: Shell) -> None:
    folder = guide(shell)
    shell("archive", "my-pack", "-o", "x.zip")
    assert "unpack it" in shell("check", "x.zip", "--fix", expect=2).err
    assert "--fix" in shell("check", "my-pack", "--dry-run", expect=2).err
    (folder / "SKILL.md").rename(folder / "text.md")
    (folder / "SKILL.md").symlink_to("text.md")
    assert shell("check", "my-pack", "--fix", "--json").json["items"][0]["fixed"] == []
    assert (folder / "text.md").read_bytes() == ODD


def test_sarif_is_written_or_printed(shell: Shell) -> None:
    shell.pack(files={"skill.json": b'{"name": "x",}'})
    printed = shell("check", "my-pack", "--sarif", "-", expect=2).json
    assert "not a good pack" in shell("check", "my-pack", "--sarif", "found.sarif", expect=2).out
    assert printed["version"] == "2.1.0" and printed["runs"][0]["results"][0]["ruleId"] == "json-syntax"
    assert shell.everything()["found.sarif"].decode().startswith("{")


def test_explain_says_the_rule_and_the_reasons(shell: Shell) -> None:
    guide(shell, a_skill_md("my-pack"), notes__txt=b"")
    ran = shell("check", "my-pack", "--explain")
    assert "Every folder with a file named exactly SKILL.md" in ran.out
    assert "my-pack/SKILL.md: the guide 'my-pack'" in ran.out and "my-pack/notes.txt: content of the skill" in ran.out
    assert shell("check", "my-pack", "--explain", "--json").json["items"][0]["files"][0]["path"] == "SKILL.md"


def test_a_secret_stops_archive_and_publish_until_its_place_is_allowed(shell: Shell) -> None:
    token = TOKENS["ghp_"]
    guide(shell, a_skill_md("my-pack"), notes__md=f"one\ntoken={token}\n".encode(), more__md=token.encode())
    for command in (["archive", "my-pack"], ["publish", "my-pack"], ["publish", "my-pack", "--dry-run"]):
        ran = shell(*command, expect=2)
        assert "notes.md:2:7" in ran.err and "more.md:1:1" in ran.err and token not in ran.err
        assert "notes.md:2" in shell(*command, "--allow-secret", "more.md:1", expect=2).err
    assert shell.index.releases == {} and not (shell.folder / "my-pack-1.0.0.zip").exists()
    allowed = ("--allow-secret", "more.md:1", "--allow-secret", "notes.md:2")
    assert "an index would refuse it" in shell("check", "my-pack", expect=2).out
    assert "good" in shell("check", "my-pack", *allowed).out
    shell("archive", "my-pack", *allowed)
    assert "published" in shell("publish", "my-pack", *allowed).out
    assert "is not a place" in shell("publish", "my-pack", "--allow-secret", "notes.md", expect=2).err


def test_neither_an_archive_nor_a_wheel_is_sent_with_a_secret(shell: Shell) -> None:
    token = TOKENS["npm_"]
    guide(shell, a_skill_md("my-pack"), notes__md=token.encode())
    shell("archive", "my-pack", "--allow-secret", "notes.md:1", "-o", "x.zip")
    assert "notes.md:1:1" in shell("upload", "x.zip", expect=2).err
    assert "published" in shell("upload", "x.zip", "--allow-secret", "notes.md:1").out
    files = {"demo_pack/__init__.py": f"TOKEN = '{token}'\n".encode(), "demo_pack/SKILL.md": a_skill_md("demo-pack")}
    (shell.folder / "demo_pack-1.0.0-py3-none-any.whl").write_bytes(a_wheel(files))
    assert "demo_pack/__init__.py:1:10" in shell("publish", "demo_pack-1.0.0-py3-none-any.whl", expect=2).err


def test_an_archive_is_taken_from_another_program_without_its_secrets(shell: Shell) -> None:
    guide(shell, a_skill_md("my-pack"), notes__md=TOKENS["npm_"].encode())
    shell("archive", "my-pack", "--allow-secret", "notes.md:1", "-o", "x.zip")
    assert "notes.md:1:1" in shell("archive", "--from", "x.zip", "-o", "y.zip", expect=2).err


@pytest.mark.parametrize("command", ["archive", "publish"])
def test_the_list_of_files_is_the_same_everywhere(shell: Shell, command: str) -> None:
    guide(shell, a_skill_md("my-pack"), run__sh=b"#!/bin/sh\n", __env=b"X=1")
    listed = shell("archive", "my-pack", "--list")
    assert listed.out.splitlines() == ["SKILL.md", "run.sh"]
    assert not (shell.folder / "my-pack-1.0.0.zip").exists()
    document = shell(command, "my-pack", "--dry-run", "--json").json
    item = document["items"][0] if command == "publish" else document
    assert [file["path"] for file in item["files"]] == listed.out.splitlines()
    assert [left["path"] for left in item["left_out"]] == [".env"]


def test_many_small_packs_are_checked_quickly(shell: Shell) -> None:
    paths = [shell.pack(f"p{number}", files={"SKILL.md": a_skill_md(f"p{number}")}) for number in range(PACKS)]
    started = time.process_time()
    shell("check", *paths, "--quiet")
    assert (time.process_time() - started) * 1000 / PACKS < MILLISECONDS_A_PACK
