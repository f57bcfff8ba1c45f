"""The one discovery rule."""

from __future__ import annotations

import pytest

from market.pack.discover import Found, discover
from market.pack.source import SourceFile


def find(*paths: str, within: tuple[str, ...] | None = None) -> Found:
    return discover([SourceFile(path, 0) for path in sorted(paths)], within)


def test_every_folder_with_a_manifest_is_a_skill_at_any_depth() -> None:
    found = find("skill.json", "a/skill.json", "a/b/c/d/skill.json", "e/SKILL.md", "e/skill.json", "f/g/SKILL.md", "README.md")
    assert found.folders == ["", "a", "a/b/c/d", "e", "f/g"]
    assert found.guides == {"e", "f/g"}
    assert found.commands == {"", "a", "a/b/c/d", "e"}
    assert found.problems == ()


@pytest.mark.parametrize("path", [".git/SKILL.md", ".claude/skills/x/SKILL.md", "a/.hidden/skill.json", "node_modules/x/SKILL.md", "a/__pycache__/skill.json", "/".join(["d"] * 17) + "/SKILL.md"])
def test_some_folders_are_passed_over(path: str) -> None:
    assert find(path).folders == []


def test_a_guide_below_a_guide_is_content_but_a_command_is_a_skill() -> None:
    found = find("SKILL.md", "examples/x/SKILL.md", "tools/y/skill.json")
    assert found.folders == ["", "tools/y"]
    (problem,) = found.problems
    assert (problem.rule, problem.file) == ("skill-nested", "examples/x/SKILL.md")
    assert "the top" in problem.text


def test_a_guide_below_a_command_is_a_skill() -> None:
    assert find("a/skill.json", "a/b/SKILL.md").folders == ["a", "a/b"]


def test_siblings_with_a_common_beginning_are_not_nested() -> None:
    assert find("a/SKILL.md", "ab/SKILL.md", "a-b/SKILL.md").problems == ()


def test_a_search_can_be_limited() -> None:
    paths = ("SKILL.md", "skills/x/SKILL.md", "skills-more/y/SKILL.md", "docs/skills/z/SKILL.md")
    assert find(*paths, within=("skills",)).folders == ["skills/x"]
    assert find(*paths, within=("skills/x", "docs")).folders == ["docs/skills/z", "skills/x"]
    assert find(*paths, within=("",)).folders == [""]


@pytest.mark.parametrize("name", ["skill.md", "SKILL.MD", "Skill.md", "SKILL.json", "Skill.JSON"])
def test_other_spellings_are_found_as_odd(name: str) -> None:
    assert find(f"a/{name}").odd_spellings == (f"a/{name}",)


@pytest.mark.parametrize(("name", "wanted"), [("SKILLS.md", "SKILL.md"), ("skill.markdown", "SKILL.md"), ("skill.yaml", "SKILL.md"), ("SKILL.md.txt", "SKILL.md"), ("skills.json", "skill.json")])
def test_near_names_get_a_hint(name: str, wanted: str) -> None:
    (problem,) = find(f"a/{name}").problems
    assert problem.rule == "manifest-near"
    assert repr(wanted) in problem.text


def test_ordinary_names_with_skill_in_them_are_left_alone() -> None:
    found = find("skills/README.md", "docs/skill-create.md", "skill_utils.py", "a/myskill.json")
    assert (found.folders, found.problems, found.odd_spellings) == ([], (), ())


def test_folders_are_in_the_order_of_their_bytes() -> None:
    assert find("\U00010000/SKILL.md", "\uffee/SKILL.md", "B/SKILL.md", "a/SKILL.md").folders == ["B", "a", "\uffee", "\U00010000"]
