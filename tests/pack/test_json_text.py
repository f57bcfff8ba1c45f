"""JSON with exact places, stricter than the standard library where readers would disagree."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.json_text import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "rule", "place"),
    [
        ('{"a": 1,}', "json-syntax", (1, 9)),
        ("{'a': 1}", "json-syntax", (1, 2)),
        ('{"a": 1 "b": 2}', "json-syntax", (1, 9)),
        ('{\n  "a": 1,\n  "b" 2\n}', "json-syntax", (3, 7)),
        ('{"a": "x', "json-syntax", (1, 7)),
        ("{}x", "json-syntax", (1, 3)),
        ("", "json-syntax", (1, 1)),
        ('{"a": "tab\there"}', "json-syntax", (1, 11)),
        ('{ // no\n}', "json-syntax", (1, 3)),
        ('{"a": ' + "1" * 5000 + "}", "json-syntax", (1, 1)),
        ('{"a": NaN}', "json-constant", (1, 7)),
        ('{"NaN": 1,\n "a": -Infinity}', "json-constant", (2, 7)),
        ('{"a": 1e999}', "json-constant", (1, 7)),
        ('{"a": 1,\n "b": {"c": 1, "c": 2}}', "json-duplicate-key", (2, 16)),
        ("[" * 65 + "]" * 65, "json-deep", (1, 1)),
        ("[" * 100_000, "json-deep", (1, 1)),
        ('{"a": "\\ud800"}', "json-surrogate", (1, 8)),
        ('{"a": "\\uDC00 x"}', "json-surrogate", (1, 8)),
    ],
)  # fmt: skip
def test_faults_have_their_rule_and_place(text: str, rule: str, place: tuple[int, int]) -> None:
    (problem,) = parse_json(text.encode(), "f.json").problems
    assert (problem.rule, (problem.line, problem.column)) == (rule, place)
    assert problem.file == "f.json"
    assert problem.fix


@pytest.mark.parametrize("text", ['{"a": "\\ud83d\\ude00"}', '{"a": "NaN"}', "[" * 64 + "]" * 64, '{"a": 1e308}', '{"a": "\\\\ud800"}', '{"a": ["[", "{"]}'])
def test_what_only_looks_odd_passes(text: str) -> None:
    document = parse_json(text.encode(), "f")
    assert document.problems == ()
    assert document.value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ('{\n  "a": 1, // why\n  "b": 2\n}', "JSON has no comments: remove it"),
        ('{\n  /* why */ "a": 1\n}', "JSON has no comments: remove it"),
        ('{"a": [1, 2,]}', "remove the comma"),
        ('{"a": 1,}', "remove the comma"),
        ("{'a': 1}", "use double quotes"),
        ("{\"a\": 'b'}", "use double quotes"),
        ("{\"a\": 1, 'b': 2}", "use double quotes"),
        ("{a: 1}", "put the key in double quotes"),
        ('{"a": 1 "b": 2}', "put a comma before it"),
        ('{"a": True}', "write true"),
        ('{"a": None}', "write null"),
    ],
)
def test_the_habits_of_other_languages_get_their_own_correction(text: str, fix: str) -> None:
    (problem,) = parse_json(text.encode(), "f.json").problems
    assert problem.rule == "json-syntax"
    assert fix in problem.fix
    assert problem.line and problem.column


def test_bom_and_crlf_are_accepted_and_places_stay_right() -> None:
    document = parse_json(b'\xef\xbb\xbf{\r\n  "a": 1,\r\n  "b": [true]\r\n}\r\n', "f")
    assert document.value == {"a": 1, "b": [True]}
    assert document.find_place(("b", 0)) == (3, 9)
    assert document.find_place(("b", "@key")) == (3, 3)


def test_the_place_of_what_is_not_there_is_that_of_its_container() -> None:
    document = parse_json(b'{"a": {"b": 1}}', "f")
    assert document.find_place(("a", "missing", "deeper")) == (1, 7)


@given(VALUES, st.sampled_from([None, 0, 2]))
def test_values_and_places_agree_with_the_standard_reader(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = parse_json(text.encode(), "f")
    assert document.problems == ()
    assert document.value == value
    decoder = json.JSONDecoder()
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    for path, offset in document.offsets.items():
        if path[-1:] == ("@key",):
            continue
        found: object = value
        for key in path:
            found = found[key]  # type: ignore[index]
        assert decoder.raw_decode(source, offset)[0] == found


@given(st.text(max_size=60))
def test_any_text_is_parsed_without_a_crash(text: str) -> None:
    parse_json(text.encode("utf-8", "replace"), "f")
