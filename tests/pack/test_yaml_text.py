"""YAML as packs use it: texts stay texts, and nothing is executed, repeated or blown up."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.yaml_repair import quote_text
from market.pack.yaml_text import MAX_NODES, YamlFault, parse_yaml


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1.10", "1.10"), ("2024", "2024"), ("yes", "yes"), ("no", "no"), ("true", "true"), ("False", "False"), ("2024-01-15", "2024-01-15"),
        ("0x1F", "0x1F"), ("010", "010"), ("1_000", "1_000"), (".inf", ".inf"), ("12:30:45", "12:30:45"), ("~", None), ("null", None), ("", None),
        ("'~'", "~"), ('""', ""), ("'null'", "null"), ("!!str 5", "5"), ("!!int 5", "5"), ("=", "="), ("a --- b", "a --- b"),
        ("[a, 1.0]", ["a", "1.0"]), ("{a: 1.0}", {"a": "1.0"}), ("|\n  two\n  lines\n", "two\nlines\n"), (">-\n  two\n  lines\n", "two lines"),
    ],
)  # fmt: skip
def test_scalars_stay_as_written(written: str, value: object) -> None:
    yaml = parse_yaml(f"key: {written}", "f")
    assert yaml.problems == ()
    assert yaml.value == {"key": value}


def test_places_count_from_one_within_the_file() -> None:
    yaml = parse_yaml("a: 1\nb:\n  - x\n  - c: y\n", "f", first_line=2)
    assert yaml.places[("a",)] == (2, 4)
    assert yaml.places[("b", 0)] == (4, 5)
    assert yaml.places[("b", 1, "c")] == (5, 8)


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system ['touch PWNED']", "!!binary aGVsbG8=", "!own x", "!!set {a, b}", "!!omap []", "!<tag:x,1:y> z"])
def test_tags_are_refused_and_nothing_runs(tag: str) -> None:
    yaml = parse_yaml(f"a: {tag}\n", "f")
    assert [problem.rule for problem in yaml.problems] == ["yaml-tag"]


def test_repeated_keys_are_reported_with_both_places_and_the_first_stays() -> None:
    yaml = parse_yaml("a: 1\nb: 2\na: 3\n", "f")
    assert yaml.value == {"a": "1", "b": "2"}
    (problem,) = yaml.problems
    assert (problem.rule, problem.line, problem.column) == ("yaml-duplicate-key", 3, 1)
    assert "line 1" in problem.text


def test_merge_keys_fill_in_and_never_override() -> None:
    yaml = parse_yaml("base: &b {license: MIT, x: 1}\nmore: &m {x: 2, y: 3}\nall:\n  x: own\n  <<: [*b, *m]\n", "f")
    assert yaml.problems == ()
    assert yaml.value["all"] == {"license": "MIT", "x": "own", "y": "3"}
    assert [problem.rule for problem in parse_yaml("a: {<<: text}", "f").problems] == ["yaml-key"]


def test_a_bomb_of_aliases_is_refused_at_once() -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]", *(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]
    started = time.perf_counter()
    yaml = parse_yaml("\n".join(lines), "f")
    assert time.perf_counter() - started < 1
    assert [problem.rule for problem in yaml.problems] == ["yaml-size"]
    assert f"{MAX_NODES:,}" in yaml.problems[0].text


def test_a_document_that_is_too_long_is_not_parsed() -> None:
    assert [problem.rule for problem in parse_yaml("- a\n" * 70_000, "f").problems] == ["yaml-size"]


@pytest.mark.parametrize("text", ["a: &a [*a]", "&a {b: *a}", "[" * 200 + "]" * 200])
def test_endless_and_deep_values_are_refused(text: str) -> None:
    assert [problem.rule for problem in parse_yaml(text, "f").problems] == ["yaml-size"]


@pytest.mark.parametrize("text", ["[" * 250_000, "- " * 125_000, "{a: " * 60_000, "? " * 125_000, "a: b: c", "a: [", "a: 'x", "\ta: b", "a: *missing", "a\x01: b", "--- a\n--- b"])
def test_broken_text_is_a_fault_with_a_place(text: str) -> None:
    with pytest.raises(YamlFault) as caught:
        parse_yaml(text, "f", first_line=2)
    assert caught.value.place[0] >= 2
    assert caught.value.text


def test_an_open_bracket_is_reported_where_it_was_opened() -> None:
    with pytest.raises(YamlFault) as caught:
        parse_yaml("name: x\ndescription: [unclosed\nother: y\nmore: z\n", "f")
    assert caught.value.place == (2, 14)


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff\ufffe\uffff\u2028\u2029\x85"), min_size=1, max_size=40))
def test_quoted_text_is_read_back_as_it_was(text: str) -> None:
    assert parse_yaml(f"key: {quote_text(text)}", "f").value == {"key": text}
