"""What `/skills` shows: filters, counts and groups (mission A9, C6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.host.catalog import MAX_SHOWN_ROWS, Filter, make_catalog
from market.model import SkillClass
from market.registry.unit import Dropped, UnitId
from tests.registry.units import a_command, a_guide, a_live

if TYPE_CHECKING:
    from market.registry.live import LiveSkill

UNIT = UnitId("/first", "pack")


def some() -> list[LiveSkill]:
    skills = [a_command("clean", skill_class=SkillClass.MUTATING, description="Frees disks."), a_command("look"), a_guide("greeting")]
    return [a_live(skill, UNIT) for skill in skills]


def test_a9_skills_are_grouped_by_category_and_counted() -> None:
    catalog = make_catalog(some(), (), Filter())
    assert [(category, len(rows)) for category, rows in catalog.groups] == [("external", 3)]
    assert catalog.classes == (("safe", 2), ("mutating", 1), ("dangerous", 0))
    assert catalog.scopes == (("manager", 3),) and catalog.kinds == (("command", 2), ("guide", 1))


def test_every_word_must_be_found_somewhere() -> None:
    assert make_catalog(some(), (), Filter(text="DISKS free")).matched == 1
    assert make_catalog(some(), (), Filter(text="disks greet")).matched == 0
    assert make_catalog(some(), (), Filter(text="pack")).matched == 3


def test_chips_narrow_and_keep_the_other_counts() -> None:
    catalog = make_catalog(some(), (), Filter(skill_class="mutating"))
    assert catalog.matched == 1 and dict(catalog.classes)["safe"] == 2
    assert Filter(text="a b", skill_class="safe").url(kind="guide") == "/skills?q=a+b&class=safe&kind=guide"
    assert Filter(skill_class="safe").url(skill_class="") == "/skills"
    assert Filter.from_query({"q": " x ", "class": "safe"}) == Filter("x", "safe")


def test_what_didn_t_load_is_shown_when_nothing_is_searched() -> None:
    row = Dropped("/first/bad/skill.json", "", "not JSON")
    assert make_catalog(some(), (row,), Filter()).dropped == (row,)
    assert make_catalog(some(), (row,), Filter(text="x")).dropped == ()


def test_a_long_list_is_cut_and_says_so() -> None:
    many = [a_live(a_command(f"s{number}"), UNIT) for number in range(MAX_SHOWN_ROWS + 5)]
    catalog = make_catalog(many, (), Filter())
    assert catalog.hidden == 5 and sum(len(rows) for _, rows in catalog.groups) == MAX_SHOWN_ROWS
