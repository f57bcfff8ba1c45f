from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.cli.publishing import next_patch
from market.cli.text import printable, shorten, size_text, table_lines
from market.names import parse_version


@given(st.text())
def test_printable_text_holds_no_control_character(text: str) -> None:
    shown = printable(text)
    assert all(character in "\n\t" or character.isprintable() or ord(character) > 0x9F for character in shown)
    assert not set(shown) & set("\u202e\u2066\x1b\x9b")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12 kB"), (5_000_000, "5.0 MB"), (7 * 10**9, "7.0 GB")],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


def test_wide_characters_keep_columns_straight() -> None:
    head, first, second = table_lines(("NAME", "B"), [("磁盘", "x"), ("disk", "y")])
    assert head == "NAME  B" and first == "磁盘  x" and second == "disk  y"


def test_shorten_says_that_it_cut() -> None:
    assert shorten("a" * 50, 10) == "aaaaaaa..."
    assert shorten("one\ntwo") == "one"


@pytest.mark.parametrize(
    ("version", "following"),
    [
        ("1.0.0", "1.0.1"),
        ("1.2", "1.2.1"),
        ("1", "1.0.1"),
        ("1.0.0rc1", "1.0.0"),
        ("1.2.3.4", "1.2.4"),
        ("1.0.post1", "1.0.1"),
    ],
)
def test_the_next_patch_is_newer(version: str, following: str) -> None:
    assert next_patch(parse_version(version)) == following
    assert parse_version(following) > parse_version(version)
