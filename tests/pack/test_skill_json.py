"""skill.json: rules A2 to A9 of the mission, each with the place of its breach."""

from __future__ import annotations

import pytest

from market.errors import Severity
from market.model import SkillClass
from market.pack.skill_json import CommandManifest, parse_skill_json
from tests.factories import a_skill_json

DISK_CLEANER = b"""{"name": "disk_cleaner",
 "description": "Free up disk by clearing stale build caches and journals.",
 "schema": {"type": "object",
            "properties": {"path": {"type": "string", "description": "Root path to clean."},
                           "dry_run": {"type": "boolean", "default": true}},
            "required": ["path"]},
 "entry": "run.sh", "env_allow": ["PATH", "HOME"], "timeout_seconds": 60, "class": "mutating", "category": "ops"}
"""


def rules(manifest: CommandManifest) -> list[str]:
    return [problem.rule for problem in manifest.problems]


def test_the_documents_example_loads_as_it_is() -> None:
    manifest = parse_skill_json(DISK_CLEANER)
    assert manifest.problems == ()
    assert (manifest.name, manifest.entry, manifest.category) == ("disk_cleaner", "run.sh", "ops")
    assert (manifest.env_allow, manifest.timeout_seconds, manifest.skill_class) == (("PATH", "HOME"), 60, SkillClass.MUTATING)
    assert manifest.schema["required"] == ["path"]


def test_what_is_left_out_has_its_default() -> None:
    manifest = parse_skill_json(b'{"name": "a", "description": "b", "entry": "c"}')
    assert rules(manifest) == ["class-missing"]
    assert not manifest.is_broken
    assert (manifest.schema, manifest.env_allow, manifest.timeout_seconds) == ({"type": "object", "properties": {}}, (), 30)
    assert (manifest.skill_class, manifest.category, manifest.version) == (SkillClass.SAFE, "external", "")


@pytest.mark.parametrize("name", ["a", "disk_cleaner", "0", "_", "a" * 64])
def test_names_that_the_rule_allows(name: str) -> None:
    assert parse_skill_json(a_skill_json(name=name)).problems == ()


@pytest.mark.parametrize("name", ["Disk", "disk-cleaner", "disk cleaner", "é", "a" * 65, "a.b", "a\n"])
def test_names_that_it_does_not_allow(name: str) -> None:
    manifest = parse_skill_json(a_skill_json(name=name))
    assert rules(manifest) == ["skill-name"]
    assert (manifest.problems[0].line, manifest.problems[0].column) == (2, 11)


def test_a_bad_name_gets_the_nearest_good_one() -> None:
    assert parse_skill_json(a_skill_json(name="Disk-Cleaner 2")).problems[0].fix == "write 'disk_cleaner_2'"


@pytest.mark.parametrize("key", ["name", "description", "entry"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_required_fields(key: str, value: str | None) -> None:
    manifest = parse_skill_json(a_skill_json(**{key: value}))
    assert "field-missing" in rules(manifest)
    assert manifest.is_broken


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("name", 7, "field-type"),
        ("description", ["x"], "field-type"),
        ("category", 7, "field-type"),
        ("metadata", "x", "field-type"),
        ("env_allow", "PATH", "field-type"),
        ("env_allow", ["MY VAR"], "environment-name"),
        ("env_allow", [""], "environment-name"),
        ("env_allow", [7], "environment-name"),
        ("env_allow", ["A=B"], "environment-name"),
        ("env_allow", ["LD_PRELOAD"], "environment-loader"),
        ("env_allow", ["BASH_ENV"], "environment-loader"),
        ("timeout_seconds", -1, "timeout-invalid"),
        ("timeout_seconds", 1.5, "timeout-invalid"),
        ("timeout_seconds", "30", "timeout-invalid"),
        ("timeout_seconds", True, "timeout-invalid"),
        ("timeout_seconds", 86_401, "timeout-invalid"),
        ("class", "Safe", "class-invalid"),
        ("class", 7, "field-type"),
        ("class", "", "class-missing"),
        ("schema", [], "schema-type"),
        ("schema", True, "schema-type"),
        ("schema", "object", "schema-type"),
        ("schema", {"type": "strin"}, "schema-invalid"),
        ("schema", {"type": "array"}, "schema-not-arguments"),
        ("version", 1, "version-invalid"),
        ("envAllow", ["PATH"], "field-near"),
        ("Class", "safe", None),
        ("Timeout", 5, "field-near"),
        ("author", "somebody", None),
    ],
)
def test_fields_of_the_wrong_kind(field: str, value: object, rule: str | None) -> None:
    manifest = parse_skill_json(a_skill_json(**{field: value}))
    assert [found for found in rules(manifest) if found != "class-missing" or rule == "class-missing"] == ([rule] if rule else [])


@pytest.mark.parametrize(("written", "seconds"), [(0, 30), (60, 60), (60.0, 60), (86_400, 86_400), (None, 30)])
def test_time_limits(written: float | None, seconds: int) -> None:
    assert parse_skill_json(a_skill_json(timeout_seconds=written)).timeout_seconds == seconds


@pytest.mark.parametrize(("written", "meant"), [("read", SkillClass.SAFE), ("write", SkillClass.MUTATING), ("destructive", SkillClass.DANGEROUS)])
def test_the_other_vocabulary_is_mapped_and_said(written: str, meant: SkillClass) -> None:
    manifest = parse_skill_json(a_skill_json(**{"class": written}))
    assert manifest.skill_class is meant
    assert rules(manifest) == ["class-alias"]


def test_a_class_that_cannot_be_read_is_never_safe() -> None:
    manifest = parse_skill_json(a_skill_json(**{"class": "destructiv"}))
    assert manifest.skill_class is SkillClass.DANGEROUS
    assert manifest.is_broken


def test_a_version_that_is_a_number_shows_what_was_written() -> None:
    manifest = parse_skill_json(b'{"name": "a", "description": "b", "entry": "c", "class": "safe",\n "version": 1.10}')
    (problem,) = manifest.problems
    assert (problem.rule, problem.line, problem.column, problem.severity) == ("version-invalid", 2, 13, Severity.REFUSAL)
    assert problem.fix == 'write "1.10"'


def test_the_version_may_stand_in_metadata() -> None:
    assert parse_skill_json(a_skill_json(version=None, metadata={"version": "1.10"})).version == "1.10"


def test_all_problems_of_a_file_come_at_once() -> None:
    manifest = parse_skill_json(b'{"name": "A", "schema": 5, "timeout_seconds": -1, "env_allow": ["a b", "LD_X"], "class": "x"}')
    assert set(rules(manifest)) == {
        "skill-name", "field-missing", "schema-type", "timeout-invalid", "environment-name", "environment-loader", "class-invalid",
    }  # fmt: skip


def test_a_schema_fault_points_at_its_line() -> None:
    manifest = parse_skill_json(a_skill_json(schema={"type": "object", "properties": {"path": {"type": "strin"}}}))
    (problem,) = manifest.problems
    assert (problem.line, problem.column) == (11, 17)
    assert "/properties/path/type" in problem.text


@pytest.mark.parametrize("data", [b"[]", b"null", b'"x"', b"7"])
def test_a_file_that_holds_no_object(data: bytes) -> None:
    assert rules(parse_skill_json(data)) == ["json-not-object"]


def test_a_file_that_is_too_large_is_not_parsed() -> None:
    assert rules(parse_skill_json(b" " * ((1 << 20) + 1))) == ["file-too-large"]
