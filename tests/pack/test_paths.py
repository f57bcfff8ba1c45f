"""Portable paths: what passes, and laws that hold for any text. Each refusal is in tests/pack/hostile.py."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.paths import MAX_DEPTH, MAX_PART_BYTES, MAX_PATH_BYTES, check_path, find_collisions, fold_path


@pytest.mark.parametrize(
    "path",
    [
        "SKILL.md", "a/b/c.txt", ".config/rules.yaml", ".env.example", "..tools/run.sh", "a..b", "...x", "my scripts/run me (v1) 'x'.py",
        "技能/说明.md", "café.md", "README", "a-b_c.d", "console.log", "auxiliary.py", "nullable", "com10", "x/-y", "x/~y", "a" * MAX_PART_BYTES,
        "emoji-☃.txt", "__init__.py", "$(touch x)", "a;b", "é/ß",
    ],
)  # fmt: skip
def test_ordinary_names_pass(path: str) -> None:
    assert check_path(path) == ()


def test_limits_are_where_they_say() -> None:
    assert check_path("/".join(["a"] * MAX_DEPTH)) == ()
    assert [problem.rule for problem in check_path("/".join(["a"] * (MAX_DEPTH + 1)))] == ["path-deep"]
    longest = "/".join(["a" * 47] * 5) + "b"
    assert len(longest) == MAX_PATH_BYTES
    assert check_path(longest) == ()
    assert [problem.rule for problem in check_path(longest + "b")] == ["path-long"]
    assert [problem.rule for problem in check_path("é" * 51)] == ["path-long"]  # bytes count, not characters


def test_a_path_with_several_faults_gets_them_all() -> None:
    assert {problem.rule for problem in check_path("/con/a\\b:c\x01/..")} >= {
        "path-absolute", "path-reserved", "path-backslash", "path-colon", "path-control", "path-parts",
    }  # fmt: skip


def test_collisions_name_both_files() -> None:
    (problem,) = find_collisions(["docs/README.md", "docs/readme.md"])
    assert problem.rule == "path-collision"
    assert "docs/README.md" in problem.text
    assert "docs/readme.md" in problem.text


def test_neighbours_do_not_collide() -> None:
    assert find_collisions(["a", "b", "a.txt", "ab/c", "a-/c", "d/e/f", "d/e/g"]) == ()


@given(st.text(max_size=60))
def test_any_text_is_judged_without_a_crash_and_a_good_one_is_harmless(path: str) -> None:
    if check_path(path):
        return
    assert unicodedata.normalize("NFC", path) == path
    assert not path.startswith(("/", "-", "~"))
    assert not {"", ".", ".."} & set(path.split("/"))
    assert not any(unicodedata.category(character) in ("Cc", "Cs") or character in "\\:" for character in path)


@given(st.text(max_size=30))
def test_folding_is_idempotent_and_ignores_case(path: str) -> None:
    folded = fold_path(path)
    assert fold_path(folded) == folded


@pytest.mark.parametrize(("first", "second"), [("README", "readme"), ("straße", "STRASSE"), ("É", "e\u0301"), ("Ǆ", "ǆ")])
def test_spellings_that_one_disk_takes_for_one_name(first: str, second: str) -> None:
    assert fold_path(first) == fold_path(second)
