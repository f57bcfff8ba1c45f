"""Arguments against schemas: defaults, and every violation with its place."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import InvalidInput
from market.run.args import dump_args, fill_args
from market.run.limits import MAX_ARGS_BYTES, MAX_VIOLATIONS

CLEANER: dict[str, object] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Root path to clean."},
        "dry_run": {"type": "boolean", "default": True},
    },
    "required": ["path"],
}


def violations(schema: dict[str, object], params: object) -> dict[str, str]:
    with pytest.raises(InvalidInput) as caught:
        fill_args(schema, params)
    found: Any = caught.value.details["violations"]
    return {violation["pointer"]: violation["text"] for violation in found}


def test_defaults_are_filled_and_the_callers_value_is_left_alone() -> None:
    params = {"path": "/var/cache"}
    assert fill_args(CLEANER, params) == {"path": "/var/cache", "dry_run": True}
    assert params == {"path": "/var/cache"}
    assert fill_args(CLEANER, {"path": "/", "dry_run": False})["dry_run"] is False


def test_no_schema_accepts_any_object_and_nothing_means_no_arguments() -> None:
    assert fill_args({}, {"x": [1, {"y": None}]}) == {"x": [1, {"y": None}]}
    assert fill_args({}, None) == {}


@pytest.mark.parametrize("params", [[], "text", 3, True, 1.5])
def test_anything_but_an_object_is_refused(params: object) -> None:
    with pytest.raises(InvalidInput, match="must be a JSON object, not a"):
        fill_args({}, params)


def test_all_violations_are_listed_with_pointer_and_expected_type() -> None:
    schema: dict[str, object] = {**CLEANER, "additionalProperties": False}
    found = violations(schema, {"dry_run": "yes", "pth": 1})
    assert found == {
        "/dry_run": "expected boolean, got string 'yes'",
        "/path": "is required (string)",
        "/pth": "is not a parameter of this skill; did you mean 'path'?",
    }


def test_pointers_reach_into_nested_values_and_are_escaped() -> None:
    schema: dict[str, object] = {
        "properties": {"hosts": {"type": "array", "items": {"type": "object", "properties": {"a/b~c": {"type": "integer", "maximum": 9}}}}}
    }
    assert violations(schema, {"hosts": [{}, {"a/b~c": "x"}]}) == {"/hosts/1/a~1b~0c": "expected integer, got string 'x'"}
    assert violations(schema, {"hosts": [{"a/b~c": 10}]}) == {"/hosts/0/a~1b~0c": "10 is greater than the maximum of 9"}


def test_an_enum_names_its_choices() -> None:
    assert violations({"properties": {"mode": {"enum": ["a", "b"]}}}, {"mode": "c"}) == {"/mode": "expected one of 'a', 'b', got 'c'"}


def test_a_long_list_of_violations_is_cut_and_says_so() -> None:
    schema: dict[str, object] = {"additionalProperties": {"type": "string"}}
    with pytest.raises(InvalidInput, match="and 10 more"):
        fill_args(schema, {f"p{number:03}": number for number in range(MAX_VIOLATIONS + 10)})


def test_a_huge_value_is_not_repeated_in_the_message() -> None:
    with pytest.raises(InvalidInput) as caught:
        fill_args({"properties": {"x": {"type": "integer"}}}, {"x": "y" * 100_000})
    assert len(caught.value.message) < 500


def test_nothing_is_fetched_for_a_schema() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        listener.settimeout(0.2)
        with pytest.raises(InvalidInput, match="which it doesn't contain"):
            fill_args({"properties": {"x": {"$ref": address}}}, {"x": 1})
        with pytest.raises(TimeoutError):
            listener.accept()


def test_arguments_nested_too_deeply_are_refused() -> None:
    schema: dict[str, object] = {"$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    params: dict[str, object] = {}
    for _ in range(50_000):
        params = {"n": params}
    with pytest.raises(InvalidInput, match="nested too deeply"):
        fill_args(schema, params)
    while params:  # taken apart step by step: the interpreter would free it recursively
        params = params.pop("n")  # type: ignore[assignment]


def test_defaults_reach_nested_objects_references_and_array_items() -> None:
    schema: dict[str, object] = {
        "$defs": {"limits": {"properties": {"cpu": {"default": 1}}}},
        "properties": {
            "limits": {"$ref": "#/$defs/limits"},
            "list": {"items": {"properties": {"on": {"default": True}}}},
            "absent": {"properties": {"inner": {"default": 1}}},
        },
        "allOf": [{"properties": {"extra": {"default": []}}}],
    }
    filled = fill_args(schema, {"limits": {}, "list": [{}, {"on": False}]})
    assert filled == {"limits": {"cpu": 1}, "list": [{"on": True}, {"on": False}], "extra": []}


def test_a_filled_default_is_a_copy() -> None:
    schema: dict[str, object] = {"properties": {"list": {"default": []}}}
    first: Any = fill_args(schema, {})
    first["list"].append(1)
    assert fill_args(schema, {}) == {"list": []}


def test_a_bad_default_is_reported_like_a_bad_argument() -> None:
    assert violations({"properties": {"n": {"type": "integer", "default": "x"}}}, {}) == {"/n": "expected integer, got string 'x'"}


def test_the_text_for_the_child_is_ascii_and_bounded() -> None:
    assert dump_args({"a": "ü\ud800"}) == '{"a":"\\u00fc\\ud800"}'
    with pytest.raises(InvalidInput, match="at most"):
        dump_args({"a": "x" * MAX_ARGS_BYTES})
    with pytest.raises(InvalidInput, match="can't be written as JSON"):
        dump_args({"a": float("nan")})


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(st.dictionaries(st.text(), JSON))
def test_without_a_schema_every_object_passes_unchanged(params: dict[str, object]) -> None:
    assert fill_args({}, params) == params


@given(st.dictionaries(st.sampled_from(["path", "dry_run", "x"]), JSON))
def test_filling_twice_changes_nothing(params: dict[str, object]) -> None:
    try:
        once = fill_args(CLEANER, params)
    except InvalidInput:
        return
    assert fill_args(CLEANER, once) == once
