"""What a pack's tree declares as code, and what becomes of its skills when that can't be used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from market.model import Command, Kind, Skill, SkillClass, State
from market.registry.unit import UnitId
from market.run.tree_code import blame, declared_functions, first_runnable, tree_key
from tests.registry.units import a_command, a_guide, a_live, a_unit


def a_python(name: str = "echo_py") -> Skill:
    return Skill(name, Kind.PYTHON, "Echoes.", "pkg", SkillClass.SAFE, command=Command("pkg/skill.json", f"python:pkg.code:{name}", {}))


def test_only_python_skills_name_functions() -> None:
    unit = a_unit("pack", a_python("one"), a_python("two"), a_command("three"), a_guide("four"))
    assert declared_functions(unit.skills) == {"one": ("pkg.code", "one"), "two": ("pkg.code", "two")}


def test_only_the_skills_at_fault_become_invalid_and_say_why() -> None:
    unit = a_unit("pack", a_python("one"), a_python("two"), a_command("three"))
    blamed = blame(unit, {"one": "it has no function 'one'", "three": "not code"})
    assert [skill.state for skill in blamed.skills] == [State.INVALID, State.LIVE, State.LIVE]
    assert [problem.text for problem in blamed.skills[0].problems] == ["its code can't be used: it has no function 'one'"]
    assert blame(unit, {}) is unit


@pytest.mark.parametrize("state", [State.DISABLED, State.HELD, State.INELIGIBLE])
def test_what_does_not_run_anyway_keeps_its_own_reason(state: State) -> None:
    unit = a_unit("pack", a_python(), state=state)
    assert blame(unit, {"echo_py": "broken"}) == unit
    assert first_runnable(unit) is None


def test_the_first_python_skill_that_may_be_called() -> None:
    unit = a_unit("pack", a_command("three"), a_python("one"))
    found = first_runnable(unit)
    assert found is not None
    assert found.key == "one"


def test_an_edited_tree_is_another_one_and_so_is_a_replaced_directory() -> None:
    skill = a_live(a_python(), UnitId("/first", "pack"), tree_digest="aa")
    assert tree_key(skill) == (1, 2, "aa")
    assert tree_key(replace(skill, tree_digest="bb")) != tree_key(skill)
    assert tree_key(replace(skill, inode=3)) != tree_key(skill)
