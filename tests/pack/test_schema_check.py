"""The quick check of schemas never says yes where jsonschema says no."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for

from market.pack import schema_check
from market.pack.schema_check import find_schema_fault

KEYWORDS = sorted(
    {
        "type", "properties", "required", "items", "enum", "const", "default", "examples", "$ref", "$schema", "$id", "pattern", "patternProperties", "dependentRequired",
        *schema_check._TEXTS, *schema_check._COUNTS, *schema_check._NUMBERS, *schema_check._FLAGS, *schema_check._SCHEMAS, *schema_check._SCHEMA_LISTS,
    }
)  # fmt: skip
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["object", "string", "strin", "(", "date", "#/x", "http://json-schema.org/draft-07/schema#"])
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=10,
)


def is_schema(schema: dict[str, Any]) -> bool:
    if not isinstance(schema.get("$schema", ""), str):
        return False  # the library crashes on these
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError:
        return False
    return True


@given(st.dictionaries(st.sampled_from(KEYWORDS), SCHEMAS, max_size=4))
def test_both_checks_agree(schema: dict[str, Any]) -> None:
    assert (find_schema_fault(schema) is None) == is_schema(schema)


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "strin"}, ("type",)),
        ({"properties": {"a": {"type": 7}}}, ("properties", "a", "type")),
        ({"required": ["a", "a"]}, ("required",)),
        ({"pattern": "("}, ("pattern",)),
        ({"minimum": "1"}, ("minimum",)),
        ({"anyOf": []}, ("anyOf",)),
    ],
)
def test_faults_are_named_by_their_path(schema: dict[str, Any], path: tuple[str, ...]) -> None:
    fault = find_schema_fault(schema)
    assert fault is not None
    assert fault[0] == path
    assert fault[1]


def test_a_plain_schema_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> None:
        raise AssertionError("the library was asked")

    monkeypatch.setattr(schema_check, "_check_with_library", refuse)
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Root path to clean.", "minLength": 1},
            "dry_run": {"type": "boolean", "default": True},
            "mode": {"enum": ["fast", "slow"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert find_schema_fault(schema) is None


def test_references_and_old_dialects_are_accepted() -> None:
    assert find_schema_fault({"$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}) is None
    assert find_schema_fault({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {}}) is None
    assert find_schema_fault({"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": True, "minimum": 1}) is None
    assert find_schema_fault({"exclusiveMinimum": True}) is not None
