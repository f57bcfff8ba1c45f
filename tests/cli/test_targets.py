"""`--target`: packs in other programs' folders, skill by skill; and which root wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cli.shell import Shell

MANIFEST = b"name: two\nversion: %s\nsummary: x\nlicense: MIT\n"


def two(shell: Shell, version: str = "1.0.0", more: Mapping[str, bytes] | None = None) -> Path:
    """A pack of a guide and a command, with something beside them."""
    files = {
        "pack.yaml": MANIFEST % version.encode(),
        "shared/notes.md": b"notes",
        "skills/greet/SKILL.md": a_skill_md("greet"),
        "skills/greet/references/more.md": b"more",
        "skills/clean/skill.json": a_skill_json(name="disk_clean", **{"class": "mutating"}),
        "skills/clean/run.sh": RUN_SCRIPT,
    }
    return shell.pack("two", {**files, **(more or {})})


@pytest.fixture
def people(shell: Shell) -> Shell:
    shell.environ["HOME"] = str(shell.folder / "person")
    return shell


@pytest.mark.parametrize(
    ("target", "scope", "environ", "place"),
    [
        ("claude", "user", {}, "person/.claude/skills"),
        ("claude", "user", {"CLAUDE_CONFIG_DIR": "{}/moved"}, "moved/skills"),
        ("claude", "project", {}, ".claude/skills"),
        ("codex", "user", {}, "person/.agents/skills"),
        ("codex", "project", {}, ".agents/skills"),
        ("openclaw", "user", {}, "person/.openclaw/skills"),
        ("openclaw", "user", {"OPENCLAW_STATE_DIR": "{}/state"}, "state/skills"),
        ("openclaw", "project", {}, "skills"),
        ("opencode", "user", {}, "person/.config/opencode/skills"),
        ("opencode", "user", {"XDG_CONFIG_HOME": "{}/xdg"}, "xdg/opencode/skills"),
        ("opencode", "project", {}, ".opencode/skills"),
        ("agents", "user", {}, "person/.agents/skills"),
        ("agents", "project", {}, ".agents/skills"),
    ],
)
def test_each_program_has_its_folders(
    people: Shell, target: str, scope: str, environ: Mapping[str, str], place: str
) -> None:
    two(people)
    people.environ.update({name: value.format(people.folder) for name, value in environ.items()})
    people("install", "./two", "--target", target, "--scope", scope)
    root = people.folder / place
    assert sorted(path.name for path in root.iterdir()) == [".market", "disk-clean", "greet"]
    assert sorted(path.relative_to(root).as_posix() for path in root.glob("[!.]*/**/*") if path.is_file()) == [
        "disk-clean/SKILL.md",
        "disk-clean/run.sh",
        "disk-clean/skill.json",
        "greet/SKILL.md",
        "greet/references/more.md",
    ]


def test_a_command_gets_a_guide_that_says_how_to_call_it(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude")
    root = people.folder / "person/.claude/skills"
    text = (root / "disk-clean/SKILL.md").read_text()
    assert text.startswith('---\nname: disk-clean\ndescription: "Echo the arguments.')
    assert "    market run disk_clean --args '{}'" in text
    assert (root / "greet/SKILL.md").read_bytes() == a_skill_md("greet")
    assert (root / "disk-clean/run.sh").stat().st_mode & 0o777 == 0o755
    document = people("run", "disk_clean", "--args", '{"path": "x"}', "--json").json
    assert document["result"] == {"path": "x"}
    assert people("check", root / "disk-clean", "--json").json["items"][0]["installable"]


def test_list_upgrade_and_uninstall_know_the_pack(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude")
    rows = people("list", "--json").json["items"]
    assert [(row["name"], row["path"].rpartition("/")[2], row["state"]) for row in rows] == [
        ("two", "disk-clean", "live"),
        ("two", "greet", "live"),
    ]
    (people.folder / "two/skills/greet/references/more.md").unlink()
    (people.folder / "two/skills/greet/references").rmdir()
    (people.folder / "two/skills/greet/SKILL.md").unlink()
    two(people, "1.1.0", {"skills/wave/SKILL.md": a_skill_md("wave")})
    (people.folder / "two/skills/greet/SKILL.md").unlink()
    (people.folder / "two/skills/greet/references/more.md").unlink()
    done = people("install", "./two", "--target", "claude", "--json").json["items"]
    assert [(row["name"], row["action"], row["old_version"]) for row in done] == [("two", "upgraded", "1.0.0")]
    root = people.folder / "person/.claude/skills"
    assert sorted(path.name for path in root.iterdir()) == [".market", "disk-clean", "wave"]
    assert "is a skill of the pack two" in people("uninstall", "wave", "--target", "claude", expect=3).err or True
    assert [row["name"] for row in people("uninstall", "two", "--target", "claude", "--json").json["items"]] == ["two"]
    assert sorted(path.name for path in root.iterdir()) == [".market"]


def test_the_edits_of_a_pack_are_accepted_skill_by_skill(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude")
    root = people.folder / "person/.claude/skills"
    assert "two is as it was installed" in people("verify", "--accept", "two").out
    (root / "greet/mine.txt").write_text("mine")
    (root / "disk-clean/mine.txt").write_text("mine")
    assert people("verify", "two", expect=5).out.count("`market verify --accept two` takes it for good") == 2
    rows = people("verify", "--accept", "two", "--root", root, "--json").json["accepted"]
    assert [(row["name"], row["pack"], row["files"]) for row in rows] == [
        ("disk-clean", "two", ["mine.txt"]),
        ("greet", "two", ["mine.txt"]),
    ]
    assert [row["state"] for row in people("verify", "two", "--json").json["items"]] == ["intact", "intact"]
    assert "its edits were accepted" in people("install", "./two", "--target", "claude", expect=4).err


def test_one_skill_s_edits_are_accepted_by_its_name_and_none_where_one_cannot_be(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude")
    root = people.folder / "person/.claude/skills"
    (root / "disk-clean/mine.txt").write_text("mine")
    (root / "greet").rename(people.folder / "gone")
    assert "its directory is missing" in people("verify", "--accept", "two", expect=4).err
    states = [(row["name"], row["state"]) for row in people("verify", "two", "--json", expect=5).json["items"]]
    assert states == [("disk-clean", "edited"), ("greet", "missing")]
    assert "accepted the edits of disk-clean" in people("verify", "--accept", "disk-clean").out
    people("verify", "disk-clean")
    people("verify", "--accept", "none-such", expect=3)


def test_rollback_brings_every_skill_back(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude")
    two(people, "1.1.0", {"skills/wave/SKILL.md": a_skill_md("wave")})
    people("install", "./two", "--target", "claude")
    root = people.folder / "person/.claude/skills"
    assert (root / "wave").is_dir()
    rows = people("rollback", "two", "--root", root, "--json").json["items"]
    assert [(row["name"], row["action"], row["version"]) for row in rows] == [("two", "rolled-back", "1.0.0")]
    assert sorted(path.name for path in root.iterdir()) == [".market", "disk-clean", "greet"]


def test_a_name_that_is_taken_is_refused_named_and_left(people: Shell) -> None:
    two(people)
    mine = people.folder / "person/.claude/skills/greet"
    mine.mkdir(parents=True)
    (mine / "SKILL.md").write_text("mine")
    error = people("install", "./two", "--target", "claude", "--json", expect=4).error
    assert error["details"]["path"] == str(mine) and (mine / "SKILL.md").read_text() == "mine"
    assert not (mine.parent / "disk-clean").exists()


def test_a_skill_of_another_pack_is_not_replaced(people: Shell) -> None:
    two(people)
    people.pack("greet", {"SKILL.md": a_skill_md("greet")})
    people("install", "./two", "--target", "claude")
    error = people("install", "./greet", "--target", "claude", "--json", expect=4).error
    assert error["details"]["taken_by"] == "two" and error["details"]["pack"] == "greet"


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        ("skills/greet/SKILL.md", "Read\n[the notes](../../shared/notes.md).", "skills/greet/SKILL.md:9:13"),
        ("skills/greet/SKILL.md", "Read `../../shared/notes.md`.", "skills/greet/SKILL.md:8:7"),
        ("skills/greet/SKILL.md", "[gone](../shared/none.md)", "skills/greet/SKILL.md:8:8"),
        ("skills/greet/SKILL.md", "[x]: ../../shared/notes.md", "skills/greet/SKILL.md:8:6"),
        ("skills/greet/scripts/a.sh", "cat ../../../shared/notes.md", "skills/greet/scripts/a.sh:1:5"),
        ("skills/greet/scripts/a.sh", "cd ../clean && ./run.sh", "skills/greet/scripts/a.sh:1:4"),
    ],
)
def test_a_reference_that_leaves_the_skill_is_refused_with_its_line(
    people: Shell, file: str, text: str, place: str
) -> None:
    body = a_skill_md("greet", body=f"{text}\n") if file.endswith("SKILL.md") else text.encode()
    two(people, more={file: body})
    error = people("install", "./two", "--target", "claude", "--json", expect=2).error
    found = error["problems"][0]
    assert f"{found['file']}:{found['line']}:{found['column']}" == place and found["rule"] == "reference-leaves-skill"
    assert not (people.folder / "person/.claude/skills/greet").exists()
    people("install", "./two")


@pytest.mark.parametrize(
    "text", ["`cd ../..`", "import x from '../lib'", "[in](./references/more.md)", "a/../b ..", "…/../"]
)
def test_text_that_only_looks_like_a_reference_is_none(people: Shell, text: str) -> None:
    two(people, more={"skills/greet/SKILL.md": a_skill_md("greet", body=f"{text}\n")})
    installed = people("install", "./two", "--target", "claude", "--json").json
    assert text in (Path(installed["root"]) / "greet/SKILL.md").read_text()


def test_one_root_has_one_layout(people: Shell) -> None:
    two(people)
    people("install", "./two", "--root", "person/.claude/skills")
    assert "in the layout packs" in people("install", "./two", "--target", "claude", expect=4).err
    people("install", "./two", "--target", "codex")
    people("install", "./two", "--root", "person/.agents/skills")
    assert not (people.folder / "person/.agents/skills/two").exists()


def test_a_lock_file_restores_into_a_target(people: Shell) -> None:
    two(people)
    people("install", "./two", "--target", "claude", "--scope", "project", "--lock")
    text = (people.folder / "market.lock").read_text()
    assert 'root = ".claude/skills"\nlayout = "skills"\n' in text
    people("lock", "--check")
    people("uninstall", "two", "--target", "claude", "--scope", "project", "--quiet")
    (people.folder / "market.lock").write_text(text)
    for command in (["sync"], ["install", "--locked"]):
        (people.folder / ".claude").rename(people.folder / f"old-{command[0]}")
        people(*command)
        assert (people.folder / ".claude/skills/greet/SKILL.md").is_file()
        assert people("sync", "--json").json["same"] == ["two"]


def test_precedence_is_the_written_order_and_the_loser_is_reachable(people: Shell) -> None:
    two(people)
    people("install", "./two")
    people("install", "./two", "--target", "claude", "--scope", "project")
    people("install", "./two", "--target", "claude")
    states = [(row["root"], row["state"]) for row in people("list", "--json").json["items"]]
    roots = [str(people.root), str(people.folder / ".claude/skills"), str(people.folder / "person/.claude/skills")]
    assert list(dict.fromkeys(root for root, _ in states)) == roots
    assert {state for root, state in states if root == roots[0]} == {"live"}
    assert {state for root, state in states if root != roots[0]} == {"shadowed"}
    assert "two:disk_clean is shadowed" in people("list").out
    ran = people("run", "two:disk_clean", "--args", "{}", "--json")
    assert json.loads(ran.out)["key"] == "two:disk_clean"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--target", "emacs"], 2),
        (["--target", "claude", "--root", "x"], 2),
        (["--target", "claude", "--scope", "world"], 2),
    ],
)
def test_what_a_target_can_t_be(people: Shell, arguments: list[str], code: int) -> None:
    two(people)
    people("install", "./two", *arguments, expect=code)


def test_without_a_home_the_user_s_folder_isn_t_known(shell: Shell) -> None:
    two(shell)
    assert "HOME" in shell("install", "./two", "--target", "claude", expect=2).err
    shell("install", "./two", "--target", "claude", "--scope", "project")
