"""Records: the identity of a tree."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.errors import Untrusted
from market.pack.record import FileRecord, Record, dump_record, make_record, parse_record
from market.pack.source import MemorySource

TREES = st.dictionaries(st.text("abc/é", min_size=1, max_size=5), st.binary(max_size=20), max_size=6)


@given(TREES)
def test_a_record_survives_json(tree: dict[str, bytes]) -> None:
    record = make_record(MemorySource(tree))
    assert parse_record(json.loads(json.dumps(dump_record(record)))) == record


@given(TREES, TREES)
def test_two_trees_have_one_digest_only_if_they_are_the_same(first: dict[str, bytes], second: dict[str, bytes]) -> None:
    digests = [make_record(MemorySource(tree)).tree_digest for tree in (first, second)]
    assert (digests[0] == digests[1]) == (first == second)


def test_the_executable_bit_is_part_of_the_identity() -> None:
    plain = make_record(MemorySource({"a": b""}))
    executable = make_record(MemorySource({"a": b""}, executables=frozenset({"a"})))
    assert plain.tree_digest != executable.tree_digest


def test_the_digest_is_fixed_forever() -> None:
    record = make_record(MemorySource({"a": b"1", "b/c": b"2"}, executables=frozenset({"b/c"})))
    assert record.tree_digest == "sha256:c0d605af50ed85fb7d7fcbef9f51222e863fb3e11b75b0872e986d0a384c9a99"
    assert record.size == 2
    assert record.by_path["b/c"].executable


SHA = "0" * 64


@pytest.mark.parametrize(
    "rows",
    [
        None, {}, "x", [["a"]], [["a", 1, SHA]], [["a", -1, SHA, False]], [["a", 1, "x", False]], [["a", "1", SHA, False]], [[1, 1, SHA, False]],
        [["b", 1, SHA, False], ["a", 1, SHA, False]], [["a", 1, SHA, False], ["a", 1, SHA, False]], [["a", 1, SHA, 0]],
    ],
)  # fmt: skip
def test_other_shapes_are_refused(rows: object) -> None:
    with pytest.raises(Untrusted):
        parse_record(rows)


def test_rows_are_short() -> None:
    assert dump_record(Record((FileRecord("a", 1, SHA, True),))) == [["a", 1, SHA, True]]
