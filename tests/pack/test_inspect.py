"""The verdict: identity, kinds, siblings, and every expectation that public bug reports taught us."""

from __future__ import annotations

import json

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from market.model import Kind, Needs, SkillClass
from market.pack.inspect import Given, Inspection, inspect_pack
from market.pack.kinds import KINDS
from market.pack.source import MemorySource
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md, a_source

PACK_YAML = b"name: tool-box\nversion: 1.10\nsummary: Two tools.\nlicense: MIT\nkeywords: [a, b]\n"


def look(
    files: dict[str, bytes], given: Given | None = None, *, name: str = "", executables: tuple[str, ...] = ("run.sh",)
) -> Inspection:
    return inspect_pack(MemorySource(files, name=name, executables=frozenset(executables)), given or Given())


def rules(inspection: Inspection) -> list[str]:
    return [problem.rule for problem in inspection.problems]


def test_a_good_pack_has_no_problem() -> None:
    inspection = inspect_pack(a_source())
    assert inspection.problems == ()
    assert inspection.pack is not None
    assert (inspection.pack.name, str(inspection.pack.version), inspection.pack.kind) == ("echo-args", "1.0.0", "skill")
    (skill,) = inspection.pack.skills
    assert (skill.name, skill.kind, skill.folder) == ("echo_args", Kind.COMMAND, "")


# identity


# siblings and sides


def test_one_broken_skill_does_not_take_its_siblings_down() -> None:
    inspection = look(
        {
            "good-one/SKILL.md": a_skill_md("good-one"),
            "good-two/SKILL.md": a_skill_md("good-two"),
            "bad-yaml/SKILL.md": b"---\nname: bad-yaml\ndescription: [unclosed\n---\n\nx\n",
            "bad-empty/SKILL.md": b"",
            "bad-bytes/SKILL.md": b"---\nname: bad-bytes\ndescription: caf\xe9 \xff\xfe\n---\n",
            "bad-nofence/SKILL.md": b"# Just a heading\n\nNo front matter here.\n",
            "bad-json/skill.json": b"{",
            "bad-entry/skill.json": a_skill_json(name="bad_entry", entry="nope.sh"),
        },
        Given("root", "1"),
    )
    assert inspection.pack is not None
    assert [skill.name for skill in inspection.pack.skills] == ["good-one", "good-two"]
    assert [(problem.file, problem.rule) for problem in inspection.errors] == [
        ("bad-bytes/SKILL.md", "text-encoding"),
        ("bad-empty/SKILL.md", "front-matter-missing"),
        ("bad-entry/skill.json", "entry-missing"),
        ("bad-json/skill.json", "json-syntax"),
        ("bad-nofence/SKILL.md", "front-matter-missing"),
        ("bad-yaml/SKILL.md", "yaml-syntax"),
    ]
    assert inspection.warnings == ()


def test_the_name_does_not_change_when_a_sibling_breaks() -> None:
    files = {"a/SKILL.md": a_skill_md("a"), "b/SKILL.md": b""}
    inspection = look(files, Given(version="1"), name="box")
    assert inspection.pack is not None
    assert (inspection.pack.name, inspection.pack.kind) == ("box", "collection")


@pytest.mark.parametrize(
    ("guide", "command"), [("disk-cleaner", "disk_cleaner"), ("disk_cleaner", "disk_cleaner"), ("cleaner", "cleaner")]
)
def test_two_manifests_of_one_name_are_one_skill_with_two_sides(guide: str, command: str) -> None:
    extra = "tools:\n  - {name: x, class: destructive}\nlicense: MIT\n"
    inspection = look(
        {
            "SKILL.md": a_skill_md(guide, "Says more.", extra=extra),
            "skill.json": a_skill_json(name=command),
            "run.sh": RUN_SCRIPT,
        }
    )
    assert inspection.errors == ()
    assert inspection.pack is not None
    (skill,) = inspection.pack.skills
    assert (skill.name, skill.kind) == (command, Kind.COMMAND)
    assert skill.command is not None
    assert skill.guide is not None
    assert skill.skill_class is SkillClass.DANGEROUS  # as dangerous as either side
    assert inspection.pack.license == "MIT"


def test_two_manifests_of_two_names_are_two_skills() -> None:
    inspection = look(
        {
            "x/SKILL.md": a_skill_md("x"),
            "x/skill.json": a_skill_json(name="y", entry="../run.sh"),
            "run.sh": RUN_SCRIPT,
        },
        Given("p", "1"),
    )
    assert inspection.pack is not None
    assert [(skill.name, skill.kind) for skill in inspection.pack.skills] == [("y", Kind.COMMAND), ("x", Kind.GUIDE)]


def test_a_good_side_stays_when_the_other_breaks() -> None:
    inspection = look({"SKILL.md": b"", "skill.json": a_skill_json(), "run.sh": RUN_SCRIPT})
    assert inspection.pack is not None
    assert [(skill.name, skill.guide) for skill in inspection.pack.skills] == [("echo_args", None)]
    assert rules(inspection) == ["front-matter-missing"]


@pytest.mark.parametrize(("first", "second"), [("deploy", "deploy"), ("hy-phen", "hy_phen")])
def test_one_name_twice_loads_the_first_only(first: str, second: str) -> None:
    inspection = look(
        {
            "a/SKILL.md": a_skill_md(first),
            "b/skill.json": a_skill_json(name=second, entry="../run.sh"),
            "run.sh": RUN_SCRIPT,
        },
        Given("p", "1"),
    )
    assert inspection.pack is not None
    assert [(skill.folder, skill.name) for skill in inspection.pack.skills] == [("a", first)]
    assert [problem.rule for problem in inspection.refusals] == ["skill-duplicate"]
    assert "'a'" in inspection.refusals[0].text


def test_another_tools_skill_json_beside_a_guide_is_left_alone() -> None:
    files = {"SKILL.md": a_skill_md(), "skill.json": b'{"name": "greeting", "version": "7", "tags": ["x"]}'}
    inspection = look(files)
    assert rules(inspection) == ["command-foreign"]
    assert inspection.pack is not None
    assert [skill.kind for skill in inspection.pack.skills] == [Kind.GUIDE]
    assert str(inspection.pack.version) == "1.0.0"
    assert "field-missing" in rules(look({"skill.json": files["skill.json"]}))
    assert "field-missing" in rules(look({**files, "skill.json": b'{"name": "greeting", "class": "safe"}'}))


# kinds


def test_the_kinds_are_a_closed_table() -> None:
    assert KINDS == ("wheel", "pack", "openclaw-plugin", "claude-plugin", "skill", "collection")


def test_plugins_hold_their_skills_in_one_folder() -> None:
    files = {
        ".claude-plugin/plugin.json": json.dumps(
            {"name": "plug", "version": "1.0", "description": "Does.", "repository": {"url": "https://x.example"}}
        ).encode(),
        "skills/greeting/SKILL.md": a_skill_md(),
        "docs/ja/skills/greeting/SKILL.md": a_skill_md(),
        "hooks/hooks.json": b"{}",
    }
    inspection = look(files)
    assert inspection.problems == ()
    assert inspection.pack is not None
    assert (inspection.pack.kind, [skill.folder for skill in inspection.pack.skills]) == (
        "claude-plugin",
        ["skills/greeting"],
    )
    assert (inspection.pack.summary, inspection.pack.repository) == ("Does.", "https://x.example")


def test_a_plugin_may_name_more_folders() -> None:
    files = {
        ".claude-plugin/plugin.json": b'{"name": "plug", "version": "1.0", "skills": ["./extra/", "./gone"]}',
        "skills/a/SKILL.md": a_skill_md("a"),
        "extra/b/SKILL.md": a_skill_md("b"),
        "other/c/SKILL.md": a_skill_md("c"),
    }
    inspection = look(files)
    assert inspection.pack is not None
    assert [skill.name for skill in inspection.pack.skills] == ["b", "a"]
    assert [(problem.rule, problem.text) for problem in inspection.errors] == [
        ("skills-path", "'./gone' is not in the pack")
    ]


def test_openclaw_comes_before_claude_and_pack_yaml_before_both() -> None:
    files = {
        ".claude-plugin/plugin.json": b'{"name": "a"}',
        "openclaw.plugin.json": b'{"name": "b"}',
        "skills/x/SKILL.md": a_skill_md("x"),
    }
    first = look(files).pack
    second = look({**files, "pack.yaml": PACK_YAML}).pack
    assert first is not None
    assert second is not None
    assert (first.kind, second.kind) == ("openclaw-plugin", "pack")


def test_a_pack_may_choose_its_skills() -> None:
    files = {
        "pack.yaml": PACK_YAML + b"skills: [skills/a, ./tools/]\n",
        "skills/a/SKILL.md": a_skill_md("a"),
        "skills/b/SKILL.md": a_skill_md("b"),
    }
    inspection = look(
        {**files, "tools/c/skill.json": a_skill_json(name="c", entry="../../run.sh"), "run.sh": RUN_SCRIPT}
    )
    assert inspection.problems == ()
    assert inspection.pack is not None
    assert [skill.name for skill in inspection.pack.skills] == ["a", "c"]


@pytest.mark.parametrize("path", ["../out", "/abs", "skills/../../out"])
def test_chosen_folders_stay_inside(path: str) -> None:
    inspection = look(
        {"pack.yaml": PACK_YAML + f"skills: ['{path}', skills]\n".encode(), "skills/a/SKILL.md": a_skill_md("a")}
    )
    assert [problem.text for problem in inspection.errors] == [f"{path!r} leaves the pack"]


# entries


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ("run.sh", None),
        ("./run.sh", None),
        ("..tools/run.sh", None),
        ("my scripts/run me (v1) 'x'.py", None),
        ("..tools/../run.sh", None),
        ("../run.sh", "entry-escapes"),
        ("..", "entry-escapes"),
        ("a/../../run.sh", "entry-escapes"),
        ("/bin/sh", "entry-absolute"),
        ("run.sh --verbose", "entry-arguments"),
        ("nope.sh", "entry-missing"),
        ("RUN.SH", "entry-missing"),
        ("my scripts", "entry-folder"),
        (".", "entry-folder"),
        ("python:package:function", "entry-python"),
        ("run.sh/", None),
    ],
)
def test_entries(entry: str, rule: str | None) -> None:
    programs = ("run.sh", "..tools/run.sh", "my scripts/run me (v1) 'x'.py")
    files = {"skill.json": a_skill_json(entry=entry), **dict.fromkeys(programs, RUN_SCRIPT)}
    inspection = look(files, executables=programs)
    assert rules(inspection) == ([rule] if rule else [])


def test_an_entry_may_lie_above_its_skill_but_inside_the_pack() -> None:
    assert (
        look(
            {"a/b/skill.json": a_skill_json(entry="../../bin/run.sh"), "bin/run.sh": RUN_SCRIPT},
            executables=("bin/run.sh",),
        ).problems
        == ()
    )


def test_a_misspelt_entry_gets_a_hint() -> None:
    assert "'run.sh'" in look({"skill.json": a_skill_json(entry="Run.sh"), "run.sh": RUN_SCRIPT}).errors[0].fix


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"#!/bin/sh\r\ncat\r\n", "entry-line-ends"),
        (b"cat\n", "entry-no-interpreter"),
        (b"", "entry-no-interpreter"),
        (b"\x7fELF\x02", None),
        (b"#!/bin/sh", None),
    ],
)
def test_what_the_system_cannot_start(content: bytes, rule: str | None) -> None:
    assert rules(look({"skill.json": a_skill_json(), "run.sh": content})) == ([rule] if rule else [])


# the whole tree


def test_nothing_recognised_is_said() -> None:
    inspection = look({"README.md": b"x"}, Given("x", "1"))
    assert inspection.pack is None
    assert rules(inspection) == ["pack-empty"]


@pytest.mark.parametrize("name", ["skill.md", "SKILL.MD", "Skill.md"])
def test_another_spelling_alone_is_told_the_exact_name(name: str) -> None:
    inspection = look({name: a_skill_md()}, Given("x", "1"))
    assert set(rules(inspection)) == {"manifest-case", "pack-empty"}
    assert "rename it to SKILL.md" in {problem.fix for problem in inspection.problems}


def test_a_page_of_that_name_is_no_skill() -> None:
    assert look({"SKILL.md": a_skill_md(), "docs/skill.md": b"# About skills\n"}).problems == ()


def test_two_spellings_in_one_folder_collide() -> None:
    assert "path-collision" in rules(look({"SKILL.md": a_skill_md(), "skill.md": a_skill_md()}))


def test_bad_paths_are_errors_of_the_pack() -> None:
    assert [problem.rule for problem in look({"SKILL.md": a_skill_md(), "con.txt": b"", "a:b": b""}).errors] == [
        "path-colon",
        "path-reserved",
    ]


def test_bom_and_crlf_give_the_same_pack() -> None:
    plain = {"SKILL.md": a_skill_md("echo-args"), "skill.json": a_skill_json(), "run.sh": RUN_SCRIPT}
    odd = {
        name: b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n") if name != "run.sh" else content
        for name, content in plain.items()
    }
    first, second = look(plain), look(odd)
    assert first.problems == second.problems == ()
    assert first.pack is not None
    assert second.pack is not None
    assert first.pack.skills[0].command == second.pack.skills[0].command
    assert first.pack.summary == second.pack.summary


def test_needs_are_read_from_the_habits_that_are_in_use() -> None:
    extra = '  os: [linux, macos]\n  requires: {bins: [jq], env: "A, B"}\n  openclaw: {os: [darwin], requires: {bins: [curl, jq]}}\n'
    inspection = look({"SKILL.md": a_skill_md(extra=extra)})
    assert inspection.pack is not None
    needs = Needs(os=("linux", "darwin"), bins=("jq", "curl"), env=("A", "B"))
    assert inspection.pack.skills[0].needs == inspection.pack.needs == needs


def test_a_manifest_that_is_too_large_is_not_read() -> None:
    assert rules(look({"SKILL.md": b"x" * ((1 << 20) + 1)}, Given("x", "1"))) == ["file-too-large"]


def test_problems_stand_in_the_order_of_their_places() -> None:
    inspection = look({"b/skill.json": b'{"name": "B", "class": "x"}', "a/SKILL.md": b"", "con": b""}, Given("x", "1"))
    places = [(problem.file, problem.line, problem.column) for problem in inspection.problems]
    assert places == sorted(places)


@given_by(
    st.dictionaries(
        st.sampled_from(
            [
                "SKILL.md",
                "skill.json",
                "a/SKILL.md",
                "a/skill.json",
                "pack.yaml",
                "openclaw.plugin.json",
                ".claude-plugin/plugin.json",
            ]
        ),
        st.binary(max_size=60),
    )
)
def test_any_manifests_are_judged_without_a_crash(files: dict[str, bytes]) -> None:
    inspection = look(files)
    assert inspection.problems


def test_a_guide_carries_its_native_front_matter() -> None:
    head = "when_to_use: At times.\nactivation:\n  mode: keyword\n  keywords: [x]\ntools:\n  - name: t\n    impl: builtin:t\n    class: write\n"
    pack = look({"SKILL.md": a_skill_md(extra=head)}).pack
    assert pack is not None
    guide = pack.skills[0].guide
    assert guide is not None
    assert guide.when_to_use == "At times." and guide.activation.keywords == ("x",)
    assert [(tool.name, tool.impl, tool.skill_class) for tool in guide.tools] == [
        ("t", "builtin:t", SkillClass.MUTATING)
    ]
    assert pack.skills[0].skill_class is SkillClass.MUTATING
