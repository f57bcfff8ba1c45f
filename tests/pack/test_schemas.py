"""The published schemas say what the parser says."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from market.errors import Severity
from market.pack.command_fields import FIELDS
from market.pack.pack_manifest import NEEDS_FIELDS, PACK_FIELDS, parse_pack_yaml
from market.pack.schemas import pack_yaml_schema, skill_json_schema
from market.pack.skill_json import parse_skill_json

TEXTS = st.sampled_from(["", " ", "a", "good_name", "Bad", "run.sh", "safe", "destructive", "nonsense", "PATH", "A B", "a\n", "x" * 65, "1.0", "object"])
LEAVES = st.none() | st.booleans() | st.integers(-2, 90_000) | st.sampled_from([1.5, 30.0]) | TEXTS
SCHEMAS = st.sampled_from([{}, {"type": "object"}, {"type": "strin"}, {"properties": {"a": {"minimum": "x"}}}, {"required": ["a", "a"]}])
VALUES = LEAVES | st.lists(LEAVES, max_size=2) | SCHEMAS
MANIFESTS = st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES, max_size=6).map(lambda extra: {"name": "a", "description": "b", "entry": "c", **extra})
PACK_VALUES = st.none() | TEXTS | st.lists(st.none() | TEXTS, max_size=2) | st.dictionaries(st.sampled_from([*NEEDS_FIELDS, "other"]), st.none() | TEXTS | st.lists(TEXTS, max_size=2))


DOCS = Path(__file__).parents[2] / "docs" / "schemas"


def test_the_files_in_the_documentation_are_these_schemas() -> None:
    assert json.loads((DOCS / "skill.schema.json").read_text()) == skill_json_schema()
    assert json.loads((DOCS / "pack.schema.json").read_text()) == pack_yaml_schema()


def test_the_schemas_are_schemas() -> None:
    for schema in (skill_json_schema(), pack_yaml_schema()):
        Draft202012Validator.check_schema(schema)
    assert set(skill_json_schema()["properties"]) == set(FIELDS)
    assert set(pack_yaml_schema()["properties"]) == set(PACK_FIELDS)


@given(MANIFESTS)
def test_skill_json_agrees_with_its_schema(manifest: dict[str, object]) -> None:
    problems = parse_skill_json(json.dumps(manifest).encode()).problems
    # A version of another type is a refusal, as the skill itself works; a schema can't say "later".
    is_good = not any(problem.severity is Severity.ERROR or problem.rule == "version-invalid" for problem in problems)
    metadata = manifest.get("metadata")
    assume(not (isinstance(metadata, dict) and "version" in metadata))
    assert is_good == Draft202012Validator(skill_json_schema()).is_valid(manifest)


@given(st.dictionaries(st.sampled_from([*(key for key in PACK_FIELDS if key != "requires"), "other"]), PACK_VALUES, max_size=5))
def test_pack_yaml_agrees_with_its_schema(manifest: dict[str, object]) -> None:
    problems = parse_pack_yaml(json.dumps(manifest).encode()).problems  # JSON is YAML
    assert all(problem.severity is not Severity.ERROR for problem in problems) == Draft202012Validator(pack_yaml_schema()).is_valid(manifest)
