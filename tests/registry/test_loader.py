"""From folders to skills: mission A and E rows about loading, each against real files."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from market.model import DEFAULT_TIMEOUT_SECONDS, Kind, Scope, SkillClass, State
from market.registry.live import SOURCE_WORKSPACE
from market.registry.loader import Loader
from market.registry.unit import UnitId
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.registry.trees import a_command_folder, a_guide_folder, a_registry, load, write_tree

DISK_CLEANER = {
    "name": "disk_cleaner",
    "description": "Free up disk by clearing stale build caches and journals.",
    "schema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Root path to clean."}, "dry_run": {"type": "boolean", "default": True}},
        "required": ["path"],
    },
    "entry": "run.sh",
    "env_allow": ["PATH", "HOME"],
    "timeout_seconds": 60,
    "class": "mutating",
    "category": "ops",
}

PROMQL = """---
name: query_promql
description: Ask Prometheus.
when_to_use: When numbers over time are needed.
activation: {mode: always}
metadata:
  os: [linux, darwin]
  requires: {bins: [], config: []}
  ongrid: {scope: manager, activation: {mode: always}}
tools:
  - {name: query_promql, impl: "builtin:prom.QueryPromQL", class: read, description: Asks.}
---

# PromQL
"""


def test_the_documents_command_pack_loads_as_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path / "disk-cleaner", {"skill.json": json.dumps(DISK_CLEANER), "run.sh": RUN_SCRIPT})
    (live,) = load(tmp_path, "disk-cleaner").skills
    command = live.skill.command
    assert command is not None and live.skill.skill_class is SkillClass.MUTATING and live.skill.category == "ops"
    assert (command.entry, command.env_allow, command.timeout_seconds) == ("run.sh", ("PATH", "HOME"), 60)
    assert command.schema == DISK_CLEANER["schema"] and live.state is State.UNMANAGED and live.source == SOURCE_WORKSPACE


def test_the_documents_guide_loads_as_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path / "promql", {"SKILL.md": PROMQL})
    (live,) = load(tmp_path, "promql").skills
    assert live.skill.name == "query_promql" and live.skill.guide is not None
    assert live.skill.guide.front_matter["when_to_use"] == "When numbers over time are needed."


def test_a1_manifests_are_found_at_any_depth_and_several_in_one_tree(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "group" / "one")
    a_command_folder(tmp_path / "group" / "deep" / "er" / "two")
    registry = a_registry(tmp_path)
    assert registry.snapshot.keys == ("one", "two")
    assert {live.pack for live in registry.snapshot.all_skills()} == {"group"}


def test_a1_state_and_caches_are_passed_over(tmp_path: Path) -> None:
    for name in (".market", ".git", "node_modules", "__pycache__", ".hidden"):
        a_command_folder(tmp_path / name / "skill")
        a_command_folder(tmp_path / "pack" / name / "skill")
    a_command_folder(tmp_path / "pack" / "good")
    assert a_registry(tmp_path).snapshot.keys == ("good",)


@pytest.mark.parametrize("name", ["Disk Cleaner", "disk-cleaner", "", None, 7])
def test_a2_a_name_is_lower_case_letters_digits_and_underscores(tmp_path: Path, name: object) -> None:
    a_command_folder(tmp_path / "pack", name=name)
    unit = load(tmp_path, "pack")
    assert not unit.skills and len(unit.dropped) == 1


def test_a3_a_description_is_required(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack", description=None)
    unit = load(tmp_path, "pack")
    assert not unit.skills and "description" in unit.dropped[0].cause


def test_a4_a_missing_schema_is_the_empty_object_schema(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack", schema=None)
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.command is not None and live.skill.command.schema == {"type": "object", "properties": {}}


def test_a5_an_entry_is_required(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack", entry=None)
    unit = load(tmp_path, "pack")
    assert not unit.skills and "entry" in unit.dropped[0].cause


def test_a5_an_entry_is_relative_to_its_manifest(tmp_path: Path) -> None:
    write_tree(tmp_path / "pack", {"inner/skill.json": a_skill_json(entry="./bin/run.sh"), "inner/bin/run.sh": RUN_SCRIPT})
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.folder == "inner" and live.state is State.UNMANAGED


def test_a5_an_absolute_entry_below_the_root_loads(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "other")
    a_command_folder(tmp_path / "pack", entry=str(tmp_path / "other" / "run.sh"))
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.command is not None and live.skill.command.entry == str(tmp_path / "other" / "run.sh")


def test_a5_a_relative_entry_elsewhere_below_the_root_loads(tmp_path: Path) -> None:
    write_tree(tmp_path / "shared", {"run.sh": RUN_SCRIPT})
    a_command_folder(tmp_path / "pack", entry="../shared/run.sh")
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.command is not None and live.skill.command.entry == str(tmp_path / "shared" / "run.sh")


def test_a7_timeout_zero_is_thirty_seconds(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack", timeout_seconds=0)
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.command is not None and live.skill.command.timeout_seconds == DEFAULT_TIMEOUT_SECONDS == 30


def test_a8_a_missing_class_loads_as_safe_and_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    a_command_folder(tmp_path / "pack", **{"class": None})
    with caplog.at_level(logging.INFO, "market.registry"):
        registry = a_registry(tmp_path)
    (live,) = registry.snapshot.all_skills()
    assert live.skill.skill_class is SkillClass.SAFE and live.is_runnable
    warning = f'skill loader: skill "pack" has no class and is loaded as safe: {tmp_path}/pack/skill.json'
    assert ("market.registry", logging.WARNING, warning) in caplog.record_tuples


@pytest.mark.parametrize(
    ("text", "expected"), [("read", SkillClass.SAFE), ("write", SkillClass.MUTATING), ("destructive", SkillClass.DANGEROUS)]
)
def test_b6_the_other_documents_words_map_to_classes(tmp_path: Path, text: str, expected: SkillClass) -> None:
    a_command_folder(tmp_path / "pack", **{"class": text})
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.skill_class is expected


def test_b6_a_guide_with_a_destructive_tool_is_dangerous(tmp_path: Path) -> None:
    write_tree(tmp_path / "pack", {"SKILL.md": PROMQL.replace("class: read", "class: destructive")})
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.skill_class is SkillClass.DANGEROUS


def test_a9_the_category_is_external_by_default(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "pack")
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.category == "external" and live.skill.scope is Scope.MANAGER


@pytest.mark.parametrize("entry", ["/bin/sh", "../../../../../../../../bin/sh"])
def test_a14_an_entry_outside_the_root_is_refused(tmp_path: Path, entry: str, caplog: pytest.LogCaptureFixture) -> None:
    a_command_folder(tmp_path / "pack", entry=entry)
    a_command_folder(tmp_path / "good")
    with caplog.at_level(logging.INFO, "market.registry"):
        registry = a_registry(tmp_path)
    assert registry.snapshot.keys == ("good",)
    assert f'skill loader: build "pack": entry {Path("/bin/sh").resolve()} escapes allowlist root {tmp_path}' in caplog.messages


def test_a14_a_link_that_leaves_the_root_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    outside = write_tree(tmp_path / "outside", {"run.sh": RUN_SCRIPT})
    a_command_folder(root / "pack", entry="bin/run.sh")
    (root / "pack" / "bin").symlink_to(outside)
    (row,) = load(root, "pack").dropped
    assert row.cause == f"entry {outside}/run.sh escapes allowlist root {root}" and row.name == "pack"


def test_a14_a_link_to_elsewhere_below_the_root_loads(tmp_path: Path) -> None:
    write_tree(tmp_path / "shared", {"run.sh": RUN_SCRIPT})
    folder = a_command_folder(tmp_path / "pack")
    (folder / "run.sh").unlink()
    (folder / "run.sh").symlink_to("../shared/run.sh")
    (live,) = load(tmp_path, "pack").skills
    assert live.skill.command is not None and live.skill.command.entry == str(tmp_path / "shared" / "run.sh")


def test_a14_a_root_that_is_itself_a_link_is_resolved_too(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "real" / "pack", entry=str(tmp_path / "real" / "pack" / "run.sh"))
    (tmp_path / "alias").symlink_to("real")
    assert a_registry(tmp_path / "alias").snapshot.keys == ("pack",)


BROKEN = {
    "not json": "{,}",
    "not an object": "[]",
    "not utf-8": b"\xff\xfe{}",
    "nan": '{"name": NaN}',
    "bad class": a_skill_json(**{"class": "harmless"}),
    "bad schema": a_skill_json(schema={"type": "strange"}),
    "schema not an object": a_skill_json(schema=[]),
    "entry missing": a_skill_json(entry="gone.sh"),
    "entry a folder": a_skill_json(entry="."),
    "bad timeout": a_skill_json(timeout_seconds=-1),
    "bad env": a_skill_json(env_allow="PATH"),
}


@pytest.mark.parametrize("manifest", BROKEN.values(), ids=BROKEN.keys())
def test_a15_a_broken_manifest_is_skipped_and_stops_nothing(tmp_path: Path, manifest: bytes | str) -> None:
    write_tree(tmp_path / "group", {"bad/skill.json": manifest, "bad/run.sh": RUN_SCRIPT})
    a_command_folder(tmp_path / "group" / "good")
    write_tree(tmp_path / "alone", {"skill.json": manifest, "run.sh": RUN_SCRIPT})
    registry = a_registry(tmp_path)
    assert registry.snapshot.keys == ("good",)
    assert [row.path for row in registry.snapshot.dropped()] == [f"{tmp_path}/alone/skill.json", f"{tmp_path}/group/bad/skill.json"]
    assert all(row.cause for row in registry.snapshot.dropped())


def test_a15_a_unit_that_can_t_be_read_stops_nothing(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "good")
    receipts = tmp_path / ".market" / "receipts"
    receipts.mkdir(parents=True)
    a_command_folder(tmp_path / "spoilt")
    (receipts / "spoilt.json").write_text("no receipt")
    registry = a_registry(tmp_path)
    assert "good" in registry.snapshot.keys
    spoilt = registry.snapshot.find("spoilt")
    assert spoilt is not None and spoilt.state is State.EDITED and "receipt" in str(spoilt.problems[0].text)


def test_a16_a_duplicate_is_skipped_with_a_line_across_units_and_inside_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for place in ("a", "b", "c/one", "c/two"):
        a_command_folder(tmp_path / place, name="same")
    with caplog.at_level(logging.INFO, "market.registry"):
        registry = a_registry(tmp_path)
    found = registry.snapshot.find("same")
    assert found is not None and found.unit == f"{tmp_path}/a"
    lines = [f'skill loader: skill "same" already registered, skipping {tmp_path}/{place}/skill.json' for place in ("b", "c/one", "c/two")]
    assert sorted(message for message in caplog.messages if "already" in message) == lines


def test_a17_loading_returns_the_number_registered(tmp_path: Path) -> None:
    a_command_folder(tmp_path / "a")
    a_guide_folder(tmp_path / "b")
    registry = a_registry(tmp_path)
    assert registry.load() == 2


def test_a17_an_empty_root_and_a_missing_one_are_no_ops(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("not a directory")
    registry = a_registry(tmp_path / "empty", tmp_path / "missing", tmp_path / "file")
    assert registry.load() == 0 and registry.snapshot.dropped() == ()


def test_a18_exactly_one_of_the_four_lines_a_manifest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    a_command_folder(tmp_path / "a", name="one")
    a_command_folder(tmp_path / "b", name="one")
    write_tree(tmp_path / "c", {"skill.json": "{"})
    a_command_folder(tmp_path / "d", name="four", **{"class": "odd"})
    with caplog.at_level(logging.DEBUG, "market.registry"):
        a_registry(tmp_path)
    dropped, built, registered, duplicate = caplog.messages
    assert registered == f'skill loader: registered subprocess skill "one" from {tmp_path}/a/skill.json'
    assert duplicate == f'skill loader: skill "one" already registered, skipping {tmp_path}/b/skill.json'
    assert dropped.startswith(f"skill loader: parse {tmp_path}/c/skill.json: ")
    assert built.startswith('skill loader: build "four": ')


def test_e2_a_guide_that_can_t_be_parsed_is_dropped_alone_and_told(tmp_path: Path) -> None:
    write_tree(tmp_path / "group", {"bad/SKILL.md": "no front matter here"})
    a_guide_folder(tmp_path / "group" / "good")
    registry = a_registry(tmp_path)
    assert registry.snapshot.keys == ("good",)
    assert [row.path for row in registry.snapshot.dropped()] == [f"{tmp_path}/group/bad/SKILL.md"]


def test_e2_the_name_falls_back_to_the_folder(tmp_path: Path) -> None:
    write_tree(tmp_path / "greeting", {"SKILL.md": "---\ndescription: Greets.\n---\nHello\n"})
    (live,) = load(tmp_path, "greeting").skills
    assert live.key == "greeting"


def test_e2_a_guide_behind_a_link_that_leaves_its_tree_is_not_read(tmp_path: Path) -> None:
    a_guide_folder(tmp_path / "outside" / "secret")
    (tmp_path / "root" / "pack").mkdir(parents=True)
    (tmp_path / "root" / "pack" / "SKILL.md").symlink_to(tmp_path / "outside" / "secret" / "SKILL.md")
    (tmp_path / "root" / "linked").symlink_to(tmp_path / "outside" / "secret")
    (tmp_path / "root" / "again").symlink_to("pack")
    registry = a_registry(tmp_path / "root")
    assert registry.snapshot.keys == ()
    rows = {row.path: row.cause for row in registry.snapshot.dropped()}
    assert rows.keys() == {f"{tmp_path}/root/linked", f"{tmp_path}/root/pack/SKILL.md"}
    assert all(f"leaves the root, to {tmp_path}/outside/secret" in cause for cause in rows.values())


def test_e2_an_oversized_guide_is_dropped(tmp_path: Path) -> None:
    a_guide_folder(tmp_path / "huge", body="x" * (2 << 20))
    registry = a_registry(tmp_path)
    assert registry.snapshot.keys == () and len(registry.snapshot.dropped()) == 1


def test_e3_a_given_directory_is_first_tried_as_one_skill(tmp_path: Path) -> None:
    a_guide_folder(tmp_path / "greeting")
    write_tree(tmp_path / "greeting", {"references/other/SKILL.md": a_skill_md("other")})
    registry = a_registry(tmp_path / "greeting")
    assert registry.snapshot.keys == ("greeting",)
    (live,) = registry.snapshot.all_skills()
    assert live.unit == live.root == str(tmp_path / "greeting")


def test_e3_else_as_a_folder_of_skills(tmp_path: Path) -> None:
    for name in ("one", "two"):
        a_guide_folder(tmp_path / "skills" / name)
    assert a_registry(tmp_path / "skills").snapshot.keys == ("one", "two")


def test_e4_a_guide_carries_its_place_and_a_stable_marker(tmp_path: Path) -> None:
    folder = a_guide_folder(tmp_path / "greeting")
    first, again = load(tmp_path, "greeting"), load(tmp_path, "greeting")
    (live,) = first.skills
    guide = live.skill.guide
    assert guide is not None and live.unit == str(folder) and guide.manifest == "SKILL.md" and guide.marker
    assert again.skills[0].skill.guide == guide
    a_guide_folder(tmp_path / "greeting", body="# Other\n")
    changed = load(tmp_path, "greeting").skills[0].skill.guide
    assert changed is not None and changed.marker != guide.marker


def test_e5_both_spellings_keep_a_skill_out_of_the_prompt(tmp_path: Path) -> None:
    for number, spelling in enumerate(("disable-model-invocation", "disableModelInvocation")):
        a_guide_folder(tmp_path / f"hidden-{number}", extra=f"{spelling}: true\n")
    guides = [live.skill.guide for live in a_registry(tmp_path).snapshot.all_skills()]
    assert len(guides) == 2 and all(guide is not None and guide.disable_model_invocation for guide in guides)


def test_a_guide_and_a_command_of_one_name_in_one_folder_are_one_skill(tmp_path: Path) -> None:
    write_tree(tmp_path / "echo", {"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT, "SKILL.md": a_skill_md("echo-args")})
    (live,) = load(tmp_path, "echo").skills
    assert live.skill.kind is Kind.COMMAND and live.skill.guide is not None and live.key == "echo_args"


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    for name in ("Mein Ordner!", "技能", "a" * 200):
        a_command_folder(tmp_path / name / "one", name=f"skill_{len(name)}")
        a_command_folder(tmp_path / name / "two", name=f"other_{len(name)}")
    assert len(a_registry(tmp_path).snapshot.keys) == 6


def test_a_folder_without_any_manifest_is_nothing_at_all(tmp_path: Path) -> None:
    write_tree(tmp_path / "notes", {"README.md": "# Notes\n"})
    unit = load(tmp_path, "notes")
    assert unit.skills == () and unit.dropped == ()
    assert Loader().load(UnitId(str(tmp_path), "gone")) is None
