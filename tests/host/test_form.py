"""The run form of a schema, and the arguments from what a browser sends (mission C6)."""

from __future__ import annotations

from typing import Any

import pytest

from market.errors import InvalidInput
from market.host.form import make_fields, read_arguments
from market.model import DEFAULT_CATEGORY
from tests.host.hosts import SCHEMA


def test_each_simple_property_is_a_field() -> None:
    fields = make_fields(SCHEMA)
    assert fields is not None and DEFAULT_CATEGORY == "external"
    assert [(field.name, field.kind, field.required, field.shown) for field in fields] == [
        ("path", "text", True, ""),
        ("depth", "integer", False, "2"),
        ("mode", "choice", False, '"fast"'),
        ("dry_run", "yesno", False, "true"),
        ("tags", "json", False, ""),
    ]
    assert (fields[1].minimum, fields[1].maximum, fields[0].description) == ("1", "9", "Where to look.")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"oneOf": [{"type": "object"}]},
        {"$ref": "#/x"},
        {"properties": {str(number): {} for number in range(101)}},
    ],
)
def test_what_fields_can_t_ask_for_is_asked_for_as_json(schema: dict[str, Any]) -> None:
    assert make_fields(schema) is None
    assert read_arguments(schema, {"args": '{"a": [1]}'}) == {"a": [1]} and read_arguments(schema, {}) == {}
    for text in ("[1]", "{", '"x"'):
        with pytest.raises(InvalidInput):
            read_arguments(schema, {"args": text})


def test_a_skill_without_arguments_has_an_empty_form() -> None:
    assert make_fields({"type": "object", "properties": {}, "additionalProperties": False}) == ()


def test_values_get_the_type_of_their_field() -> None:
    sent = {"arg.path": "/tmp", "arg.depth": "3", "arg.mode": '"thorough"', "arg.dry_run": "false", "arg.tags": '["a"]', "other": "x"}
    assert read_arguments(SCHEMA, sent) == {"path": "/tmp", "depth": 3, "mode": "thorough", "dry_run": False, "tags": ["a"]}


def test_empty_fields_are_left_out_but_required_text_may_be_empty() -> None:
    assert read_arguments(SCHEMA, {"arg.path": "", "arg.depth": "", "arg.mode": "", "arg.dry_run": ""}) == {"path": ""}


def test_text_that_isn_t_json_is_refused_by_the_field_s_name() -> None:
    with pytest.raises(InvalidInput, match="tags"):
        read_arguments(SCHEMA, {"arg.path": "/", "arg.tags": "a, b"})


def test_odd_schemas_don_t_break_the_form() -> None:
    schema = {"properties": {"a": True, "b": {"type": ["string", "null"]}, "c": {"title": 1, "description": [], "default": {"x": 1}}, "d": {"enum": [1, None, "x"]}}}
    fields = make_fields(schema)
    assert fields is not None and [field.kind for field in fields] == ["json", "json", "json", "choice"]
    assert fields[3].choices == ("1", "null", '"x"') and fields[2].shown == '{"x": 1}'
