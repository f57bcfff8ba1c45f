"""The prompt section of mission E5 to E7, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.model import Skill, State
from market.registry.prompt import PromptRow, choose_guides, dump_prompt, make_rows
from market.registry.reconcile import reconcile
from market.registry.snapshot import Snapshot
from tests.registry.units import ROOTS, a_command, a_guide, a_unit

if TYPE_CHECKING:
    from market.registry.live import LiveSkill

ROW = PromptRow("greeting", "Greets.", "/first/hello/SKILL.md", "m1")

SECTION = """

The following skills provide specialized instructions for specific tasks.
Use the read tool to load a skill's file when the task matches its description.
If a skill's <version> differs from a previous turn, re-read its SKILL.md before using it.
When a skill file references a relative path, resolve it against the skill directory (parent of SKILL.md / dirname of the path) and use the absolute path in tool commands.

<available_skills>
  <skill>
    <name>greeting</name>
    <description>Greets.</description>
    <location>/first/hello/SKILL.md</location>
    <version>m1</version>
  </skill>
</available_skills>"""


def locate(skill: LiveSkill) -> str:
    return f"{skill.unit}/SKILL.md"


def test_e6_the_section_word_for_word() -> None:
    assert dump_prompt([ROW]) == SECTION


def test_e6_everything_is_escaped() -> None:
    text = dump_prompt([PromptRow("a&b", "</description><skill>\"x\" 'y'", "/a<b>/SKILL.md")])
    assert "<name>a&amp;b</name>" in text
    assert "<description>&lt;/description&gt;&lt;skill&gt;&quot;x&quot; &apos;y&apos;</description>" in text
    assert "<location>/a&lt;b&gt;/SKILL.md</location>" in text


def test_e6_no_version_line_without_a_marker() -> None:
    section = dump_prompt([PromptRow("a", "b", "/c")]).partition("<available_skills>")[2]
    assert "version" not in section


def test_e7_only_with_a_skill_and_the_read_tool() -> None:
    assert dump_prompt([]) == ""
    assert dump_prompt([ROW], tools=("write", "grep")) == ""
    assert dump_prompt([ROW], tools=()) == ""
    assert dump_prompt([ROW], tools=("grep", "read")) == SECTION
    assert dump_prompt([ROW], tools=None) == SECTION


def test_e5_a_skill_can_keep_itself_out_of_the_prompt() -> None:
    snapshot = snapshot_of(a_guide("shown"), a_guide("hidden", hidden=True), a_command("echo"))
    assert [skill.key for skill in choose_guides(snapshot.all_skills())] == ["shown"]


def test_guides_that_can_t_be_used_are_not_offered() -> None:
    unit = a_unit("hello", a_guide(), state=State.INELIGIBLE)
    snapshot = reconcile(Snapshot(ROOTS), {unit.unit: unit}).snapshot
    assert choose_guides(snapshot.all_skills()) == ()


def test_a_shadowed_guide_is_named_by_its_key() -> None:
    units = [a_unit(name, a_guide()) for name in ("a", "b")]
    snapshot = reconcile(Snapshot(ROOTS), {unit.unit: unit for unit in units}).snapshot
    rows = make_rows(choose_guides(snapshot.all_skills()), locate)
    assert [(row.name, row.location) for row in rows] == [("b:greeting", "/first/b/SKILL.md"), ("greeting", "/first/a/SKILL.md")]


def snapshot_of(*skills: Skill) -> Snapshot:
    unit = a_unit("hello", *skills)
    return reconcile(Snapshot(ROOTS), {unit.unit: unit}).snapshot
