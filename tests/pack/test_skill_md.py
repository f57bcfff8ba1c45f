"""SKILL.md: what clients accept loads, what the documents say is kept, and the name is safe to use as a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import Severity
from market.model import Activation, ActivationMode, Scope, SkillClass, Tool
from market.pack.guide_name import normalise_name
from market.pack.skill_md import GuideManifest, parse_skill_md
from tests.factories import a_skill_md

QUERY_PROMQL = b"""---
name: query_promql
description: Query Prometheus with PromQL.
when_to_use: When a metric over time is asked for.
activation: {mode: always}
metadata:
  os: [linux, darwin]
  requires: {bins: [], config: []}
  ongrid: {scope: manager, activation: {mode: always}}
tools:
  - name: query_promql
    impl: "builtin:prom.QueryPromQL"
    class: read
    description: Runs a query.
---

# Query

Write PromQL.
"""


def rules(manifest: GuideManifest) -> list[str]:
    return [problem.rule for problem in manifest.problems]


def parse(head: str, *, folder: str = "x", body: str = "# Title\n\nThe first paragraph.\n") -> GuideManifest:
    return parse_skill_md(f"---\n{head}\n---\n\n{body}".encode(), "x/SKILL.md", folder_name=folder)


def test_the_documents_example_loads_as_it_is() -> None:
    manifest = parse_skill_md(QUERY_PROMQL, folder_name="query_promql")
    assert not manifest.is_broken
    assert [problem.severity for problem in manifest.problems] == [
        Severity.WARNING
    ]  # underscores: the Agent Skills rule
    assert (manifest.name, manifest.description) == ("query_promql", "Query Prometheus with PromQL.")
    fields = manifest.front_matter.fields
    assert fields["when_to_use"] == "When a metric over time is asked for."
    assert fields["activation"] == {"mode": "always"}
    assert fields["metadata"]["ongrid"] == {"scope": "manager", "activation": {"mode": "always"}}
    assert manifest.when_to_use == "When a metric over time is asked for."
    assert manifest.activation == Activation(ActivationMode.ALWAYS)
    assert manifest.scope is Scope.MANAGER
    assert manifest.tools == (Tool("query_promql", "builtin:prom.QueryPromQL", SkillClass.SAFE, "Runs a query."),)


def test_a_good_file_has_no_problem_and_a_marker_of_its_bytes() -> None:
    first, second = (parse_skill_md(a_skill_md(body=body), folder_name="greeting") for body in ("a", "b"))
    assert first.problems == ()
    assert first.version == "1.0.0"
    assert first.marker != second.marker
    assert first.marker == parse_skill_md(a_skill_md(body="a"), folder_name="greeting").marker


@pytest.mark.parametrize("key", ["disable-model-invocation", "disableModelInvocation"])
@pytest.mark.parametrize(
    ("written", "meant"),
    [("true", True), ("True", True), ('"true"', True), ("yes", True), ("false", False), ("no", False), ("", False)],
)
def test_hidden_from_the_model_in_both_spellings(key: str, written: str, meant: bool) -> None:
    assert parse(f"name: x\ndescription: y\n{key}: {written}").disable_model_invocation is meant


@pytest.mark.parametrize(
    ("classes", "strictest"),
    [
        ([], SkillClass.SAFE), (["read"], SkillClass.SAFE), (["read", "write"], SkillClass.MUTATING), (["destructive", "read"], SkillClass.DANGEROUS),
        (["safe", "mutating"], SkillClass.MUTATING), (["Destructive"], SkillClass.DANGEROUS), (["nonsense"], SkillClass.DANGEROUS), ([""], SkillClass.SAFE),
    ],
)  # fmt: skip
def test_a_guide_is_as_dangerous_as_its_tools(classes: list[str], strictest: SkillClass) -> None:
    tools = "".join(f"\n  - {{name: t{number}, class: '{text}'}}" for number, text in enumerate(classes))
    manifest = parse(f"name: x\ndescription: y\ntools:{tools or ' []'}")
    assert manifest.skill_class is strictest
    assert ("guide-tool-class" in rules(manifest)) == any(text in ("Destructive", "nonsense") for text in classes)


def test_tools_as_names_are_claude_codes_own_business() -> None:
    manifest = parse("name: x\ndescription: y\ntools: [Read, Write]")
    assert (manifest.problems, manifest.skill_class) == ((), SkillClass.SAFE)


@pytest.mark.parametrize(
    ("written", "name", "rule"),
    [
        ("pdf-tools", "pdf-tools", None),
        ("2024", "2024", None),
        ("query_promql", "query_promql", "guide-name-style"),
        ("a.b", "a.b", "guide-name-style"),
        ("Trend Researcher", "trend-researcher", "guide-name-style"),
        ("sw/team-build", "sw-team-build", "guide-name-style"),
        ("plugin:skill", "plugin-skill", "guide-name-style"),
        ("Bad_Name", "bad_name", "guide-name-invalid"),
        ('"-lead"', "lead", "guide-name-invalid"),
        ("two--hyphens", "two-hyphens", "guide-name-invalid"),
        ("n" * 65, "n" * 64, "guide-name-invalid"),
        ("café", "caf", "guide-name-invalid"),
        ('""', "the-folder", "guide-name-invalid"),
        ("../../etc", "etc", "guide-name-style"),
        ("技能", "the-folder", "guide-name-invalid"),
        ("[a, b]", "the-folder", "field-shape"),
    ],
)
def test_names_are_kept_or_made_usable_and_said(written: str, name: str, rule: str | None) -> None:
    manifest = parse(f"name: {written}\ndescription: y", folder="the-folder" if rule else name)
    assert manifest.name == name
    assert rules(manifest)[:1] == ([rule] if rule else [])
    assert not manifest.is_broken


def test_a_missing_name_is_the_folders() -> None:
    manifest = parse("description: y", folder="Some Folder")
    assert (manifest.name, rules(manifest)) == ("some-folder", ["guide-name-missing"])
    assert rules(parse_skill_md(b"---\ndescription: y\n---\n")) == ["field-missing"]
    assert parse_skill_md(b"---\ndescription: y\n---\n", fallback_name="given").name == "given"


def test_a_mismatch_names_both_strings() -> None:
    manifest = parse("name: acme-react-helper\ndescription: y", folder="react-helper")
    assert manifest.name == "acme-react-helper"
    (problem,) = manifest.problems
    assert (problem.rule, problem.line, problem.column) == ("guide-name-folder", 2, 7)
    assert "acme-react-helper" in problem.text
    assert "'react-helper'" in problem.text


@pytest.mark.parametrize(
    ("head", "description", "rule"),
    [
        ("name: x", "The first paragraph.", "guide-description-borrowed"),
        ('name: x\ndescription: ""', "The first paragraph.", "guide-description-borrowed"),
        ("name: x\ndescription: ~", "The first paragraph.", "guide-description-borrowed"),
        ("name: x\ndescription: null", "The first paragraph.", "guide-description-borrowed"),
        ("name: x\ndescription: NULL", "The first paragraph.", "guide-description-borrowed"),
        ("name: x\ndescription: 'NULL'", "NULL", None),
        ("name: x\ndescription: [a, b]", '["a", "b"]', "field-shape"),
        ("name: x\ndescription: " + "w" * 1025, "w" * 1025, "guide-description-long"),
        ("name: x\ndescription: yes", "yes", None),
        ("name: x\ndescription: >-\n  two\n  lines", "two lines", None),
    ],
)
def test_descriptions(head: str, description: str, rule: str | None) -> None:
    manifest = parse(head)
    assert manifest.description == description
    assert rules(manifest) == ([rule] if rule else [])


def test_without_any_text_there_is_no_skill() -> None:
    manifest = parse("name: x", body="# Only\n\n## Headings\n")
    assert rules(manifest) == ["guide-description-missing"]
    assert manifest.is_broken


@pytest.mark.parametrize(
    ("head", "version"),
    [
        ("version: 1.10", "1.10"),
        ("metadata: {version: 1.10}\nversion: 2", "1.10"),
        ("version: [1]", ""),
        ("metadata: text", ""),
    ],
)
def test_versions_stay_as_written(head: str, version: str) -> None:
    assert parse(f"name: x\ndescription: y\n{head}").version == version


def test_openclaws_limit_is_warned_of() -> None:
    assert rules(parse("name: x\ndescription: y", body="x" * 256_001)) == ["file-large"]


@given(st.text(max_size=80))
def test_any_name_becomes_a_safe_key_or_nothing(text: str) -> None:
    name = normalise_name(text)
    assert len(name) <= 64
    assert normalise_name(name) == name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_.")
    assert not name.startswith((".", "-", "_"))


@pytest.mark.parametrize(
    ("head", "activation", "count"),
    [
        ("license: MIT", Activation(), 0),
        ("activation: {mode: keyword, keywords: [prom, ' metrics ', '']}", Activation(ActivationMode.KEYWORD, ("prom", "metrics")), 0),
        ("activation: {mode: keyword, keywords: 'prom, metrics'}", Activation(ActivationMode.KEYWORD, ("prom", "metrics")), 0),
        ("activation: {mode: keyword}", Activation(ActivationMode.KEYWORD), 1),
        ("activation: {mode: sometimes}", Activation(), 1),
        ("activation: {mode: [x]}", Activation(), 1),
        ("activation: always", Activation(), 0),
        ("activation: {mode: Always}\nmetadata: {ongrid: {activation: {mode: keyword, keywords: [x]}}}", Activation(ActivationMode.KEYWORD, ("x",)), 1),
        ("metadata: {ongrid: {activation: {mode: always}}}", Activation(ActivationMode.ALWAYS), 0),
    ],
)  # fmt: skip
def test_activation(head: str, activation: Activation, count: int) -> None:
    manifest = parse(f"name: x\ndescription: y\n{head}")
    assert manifest.activation == activation
    assert rules(manifest) == ["guide-activation"] * count


@pytest.mark.parametrize(
    ("written", "scope"),
    [
        ("manager", Scope.MANAGER),
        ("edge", Scope.HOST),
        ("Host", Scope.HOST),
        ("moon", Scope.MANAGER),
        ("[a]", Scope.MANAGER),
    ],
)
def test_scope(written: str, scope: Scope) -> None:
    assert parse(f"name: x\ndescription: y\nmetadata: {{ongrid: {{scope: {written}}}}}").scope is scope


def test_when_to_use_may_be_a_list() -> None:
    assert parse("name: x\ndescription: y\nwhen_to_use: [a, b]").when_to_use == "a; b"
