"""Each file of a tree is explained, by the rule that discovery follows."""

from __future__ import annotations

from pathlib import Path

from market.pack.explain import DISCOVERY_RULE, explain_files
from market.pack.inspect import Given, inspect_pack
from market.pack.source import MemorySource
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md

DEEP = "/".join("d" * 17)


def explain(files: dict[str, bytes]) -> dict[str, str]:
    source = MemorySource(files, name="box", executables=frozenset({"run.sh"}))
    inspection = inspect_pack(source, Given("box", "1"))
    return dict(explain_files(source, inspection.pack, inspection.problems))


def test_every_file_of_a_tree_has_its_reason() -> None:
    said = explain(
        {
            "README.md": b"",
            "run.sh": RUN_SCRIPT,
            "a/SKILL.md": a_skill_md("a"),
            "a/notes.txt": b"",
            "a/more/SKILL.md": a_skill_md("more"),
            "b/skill.json": a_skill_json(entry="../run.sh"),
            "c/SKILL.md": b"no front matter",
            "d/SKILL.md": a_skill_md("a"),
            "e/SKILL.md": a_skill_md("e"),
            "e/skill.json": b'{"name": "tool"}',
            "f/Skill.md": a_skill_md("f"),
            ".x/SKILL.md": a_skill_md("x"),
            f"{DEEP}/SKILL.md": a_skill_md("deep"),
        }
    )
    assert said == {
        "README.md": "content of the pack",
        "run.sh": "the program of 'echo_args'",
        "a/SKILL.md": "the guide 'a'",
        "a/notes.txt": "content of the skill in 'a'",
        "a/more/SKILL.md": "no skill: it lies below a folder with a SKILL.md, and is that skill's content",
        "b/skill.json": "the command 'echo_args'",
        "c/SKILL.md": "a skill that isn't loaded: front-matter-missing",
        "d/SKILL.md": "a skill that isn't loaded: skill-duplicate",
        "e/SKILL.md": "the guide 'e'",
        "e/skill.json": "another tool's file: it has no field that only a command has",
        "f/Skill.md": "no skill: the name is not exactly SKILL.md",
        ".x/SKILL.md": "no skill: the folder '.x' is passed over",
        f"{DEEP}/SKILL.md": "no skill: it lies more than 16 folders deep",
    }


def test_a_manifest_that_limits_the_search_is_the_reason() -> None:
    said = explain(
        {
            "pack.yaml": b"skills: [skills/a]\n",
            ".claude-plugin/plugin.json": b"{}",
            "skills/a/SKILL.md": a_skill_md("a"),
            "skills/b/SKILL.md": a_skill_md("b"),
        }
    )
    assert said == {
        "pack.yaml": "the pack's manifest: a pack with its own manifest",
        ".claude-plugin/plugin.json": "not read: pack.yaml comes before it",
        "skills/a/SKILL.md": "the guide 'a'",
        "skills/b/SKILL.md": "no skill: only skills/a is searched",
    }


def test_a_tree_without_a_pack_is_explained_too() -> None:
    assert explain({"x.txt": b"", "SKILL.MD": b""}) == {
        "x.txt": "content of the pack",
        "SKILL.MD": "no skill: the name is not exactly SKILL.md",
    }


def test_the_rule_is_the_one_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pack-format.md").read_text().replace("`", "")
    assert [sentence for sentence in DISCOVERY_RULE if "- " + sentence.replace("`", "") + chr(10) not in page] == []
