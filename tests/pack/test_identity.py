"""Which name and version a pack has, and manifests that contradict each other."""

from __future__ import annotations

import pytest

from market.errors import Severity
from market.pack.inspect import Given
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.pack.test_inspect import PACK_YAML, look, rules


@pytest.mark.parametrize(
    ("given", "files", "source_name", "name"),
    [
        (Given("given-name"), {"SKILL.md": a_skill_md()}, "folder", "given-name"),
        (Given("Given_Name"), {"SKILL.md": a_skill_md()}, "folder", "given-name"),
        (Given(), {"pack.yaml": PACK_YAML, "a/SKILL.md": a_skill_md()}, "folder", "tool-box"),
        (
            Given(),
            {".claude-plugin/plugin.json": b'{"name": "plug"}', "skills/greeting/SKILL.md": a_skill_md()},
            "folder",
            "plug",
        ),
        (
            Given(),
            {"openclaw.plugin.json": b'{"id": "claw"}', "skills/greeting/SKILL.md": a_skill_md()},
            "folder",
            "claw",
        ),
        (Given(), {"SKILL.md": a_skill_md()}, "temporary-7f3a", "greeting"),
        (Given(), {"deep/down/SKILL.md": a_skill_md()}, "folder", "greeting"),
        (Given(), {"skill.json": a_skill_json(name="disk_cleaner"), "run.sh": RUN_SCRIPT}, "folder", "disk-cleaner"),
        (
            Given(),
            {"SKILL.md": a_skill_md(), "tools/x/skill.json": a_skill_json(entry="../../run.sh"), "run.sh": RUN_SCRIPT},
            "folder",
            "greeting",
        ),
        (Given(), {"a/SKILL.md": a_skill_md("a"), "b/SKILL.md": a_skill_md("b")}, "My_Folder", "my-folder"),
        (
            Given(),
            {"SKILL.md": a_skill_md("one"), "skill.json": a_skill_json(name="other"), "run.sh": RUN_SCRIPT},
            "folder",
            "folder",
        ),
    ],
)
def test_the_order_of_names(given: Given, files: dict[str, bytes], source_name: str, name: str) -> None:
    inspection = look(files, given, name=source_name)
    assert inspection.pack is not None
    assert inspection.pack.name == name
    assert inspection.errors == ()


def test_a_tree_that_nothing_names_has_no_pack() -> None:
    inspection = look({"a/SKILL.md": a_skill_md("a"), "b/SKILL.md": a_skill_md("b")}, Given(version="1"))
    assert inspection.pack is None
    assert rules(inspection) == ["pack-name"]
    assert "--name" in inspection.errors[0].fix


@pytest.mark.parametrize("name", ["no good!", "-x", "x" * 65, "名"])
def test_a_given_name_must_be_good(name: str) -> None:
    inspection = look({"SKILL.md": a_skill_md()}, Given(name))
    assert inspection.pack is None
    assert [problem.rule for problem in inspection.errors] == ["pack-name"]


def test_what_was_given_wins_and_the_difference_is_said() -> None:
    inspection = look({"pack.yaml": PACK_YAML, "greeting/SKILL.md": a_skill_md()}, Given("other", "2.0"))
    assert inspection.pack is not None
    assert (inspection.pack.name, str(inspection.pack.version)) == ("other", "2.0")
    assert [(problem.rule, problem.line, problem.column) for problem in inspection.warnings] == [
        ("name-overridden", 1, 7),
        ("version-overridden", 2, 10),
    ]
    same = look({"pack.yaml": PACK_YAML, "greeting/SKILL.md": a_skill_md()}, Given("Tool_Box", "1.10"))
    assert same.problems == ()


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pack.yaml": PACK_YAML, "SKILL.md": a_skill_md()}, "1.10"),
        ({".claude-plugin/plugin.json": b'{"name": "p", "version": "3.1"}', "SKILL.md": a_skill_md()}, "3.1"),
        ({"skill.json": a_skill_json(version="2.0"), "SKILL.md": a_skill_md("echo-args"), "run.sh": RUN_SCRIPT}, "2.0"),
        (
            {"skill.json": a_skill_json(version=None), "SKILL.md": a_skill_md("echo-args"), "run.sh": RUN_SCRIPT},
            "1.0.0",
        ),
        ({"SKILL.md": b"---\nname: x\ndescription: y\nversion: 1.10\n---\n"}, "1.10"),
        ({"SKILL.md": b"---\nname: x\ndescription: y\nversion: 1\nmetadata: {version: 1.10}\n---\n"}, "1.10"),
        (
            {
                "SKILL.md": a_skill_md(),
                "sub/skill.json": a_skill_json(version="9", entry="../run.sh"),
                "run.sh": RUN_SCRIPT,
            },
            "1.0.0",
        ),
    ],
)
def test_the_order_of_versions(files: dict[str, bytes], version: str) -> None:
    inspection = look(files)
    assert inspection.pack is not None
    assert str(inspection.pack.version) == version


def test_several_skills_have_no_version_of_their_own() -> None:
    inspection = look({"a/SKILL.md": a_skill_md("a"), "b/SKILL.md": a_skill_md("b")}, name="box")
    assert inspection.pack is not None
    assert inspection.pack.version is None
    assert rules(inspection) == ["version-missing"]
    assert inspection.errors == ()


@pytest.mark.parametrize("version", ["1.0.0-1", "1.0+build", "latest", "v"])
def test_a_version_that_cannot_be_ordered_is_refused_with_a_proposal(version: str) -> None:
    inspection = look({"skill.json": a_skill_json(version=version), "run.sh": RUN_SCRIPT})
    assert rules(inspection) == ["version-invalid"]
    assert inspection.refusals[0].fix.startswith("write ")
    assert inspection.pack is not None
    assert inspection.pack.version is None


PLUGIN = b'{\n  "name": "tool-box",\n  "version": "1.9"\n}\n'


@pytest.mark.parametrize(
    ("files", "given", "places"),
    [
        ({"skill.json": a_skill_json(version="2.0"), "SKILL.md": a_skill_md("echo-args")}, Given(), [("SKILL.md", 5, 12)]),
        ({"skill.json": a_skill_json(version="1.0"), "SKILL.md": a_skill_md("echo-args")}, Given(), []),
        ({"skill.json": a_skill_json(version="2.0"), "SKILL.md": a_skill_md("echo-args")}, Given(version="3"), []),
        ({"pack.yaml": PACK_YAML, "SKILL.md": a_skill_md()}, Given(), [("SKILL.md", 5, 12)]),
        ({"pack.yaml": PACK_YAML, "skill.json": a_skill_json()}, Given(), [("pack.yaml", 2, 10)]),
        ({"pack.yaml": PACK_YAML, "skills/a/SKILL.md": a_skill_md("a")}, Given(), []),
        ({"pack.yaml": PACK_YAML, ".claude-plugin/plugin.json": PLUGIN, "skills/a/SKILL.md": a_skill_md("a")}, Given(), [(".claude-plugin/plugin.json", 3, 14)]),
        ({"pack.yaml": PACK_YAML, ".claude-plugin/plugin.json": b'{"name": "other"}', "skills/a/SKILL.md": a_skill_md("a")}, Given(), [(".claude-plugin/plugin.json", 1, 10)]),
        ({"pack.yaml": PACK_YAML, ".claude-plugin/plugin.json": b"{", "skills/a/SKILL.md": a_skill_md("a")}, Given(), []),
    ],
)  # fmt: skip
def test_manifests_that_contradict_each_other_are_named(
    files: dict[str, bytes], given: Given, places: list[tuple[str, int, int]]
) -> None:
    found = [
        problem
        for problem in look({**files, "run.sh": RUN_SCRIPT}, given).problems
        if problem.rule == "manifest-conflict"
    ]
    assert [(problem.file, problem.line, problem.column) for problem in found] == places
    assert all(problem.severity is Severity.REFUSAL for problem in found)
