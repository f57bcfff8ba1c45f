"""A worker's words are anybody's: a pack's code can write to the pipe, and must not be able to hurt more than its own call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from market.run.limits import MAX_STDOUT_BYTES
from market.run.worker_reply import Header, Lack, LackKind, WorkerLost, parse_header

HOSTILE = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b"\xff\xfe",
    b"[" * 60_000,
    b"9" * 6_000,
    b'{"size":0}',
    b'{"kind":"ok","id":1,"size":1.5}',
    b'{"kind":"ok","id":1,"size":-1}',
    b'{"kind":"ok","id":1,"size":"1"}',
    b'{"kind":"ok","id":null,"size":1}',
    b'{"kind":7,"id":1,"size":1}',
    json.dumps({"kind": "ok", "id": 1, "size": MAX_STDOUT_BYTES + 1}).encode(),
    b'{"kind":"hello","id":0,"size":0,"offers":[1]}',
    b'{"kind":"hello","id":0,"size":0,"offers":{"a":1}}',
    b'{"kind":"hello","id":0,"size":0,"offers":{"a":""}}',
    b'{"kind":"hello","id":0,"size":0,"offers":{"a":["other","no function"]}}',
    b'{"kind":"hello","id":0,"size":0,"offers":{"a":["runs",1]}}',
    b'{"kind":"hello","id":0,"size":0,"offers":{"a":[["runs"],"no"]}}',
    b'{"kind":"hello","id":0,"size":0,"folders":7}',
    b'{"kind":"hello","id":0,"size":0,"folders":[1]}',
)


@pytest.mark.parametrize("line", HOSTILE, ids=[line[:40].decode("ascii", "replace") for line in HOSTILE])
def test_anything_else_is_a_lost_worker(line: bytes) -> None:
    with pytest.raises(WorkerLost, match="something else than the protocol"):
        parse_header(line)


def test_what_a_good_worker_says() -> None:
    line = b'{"kind":"hello","id":0,"size":0,"offers":{"one":null,"two":["function","no function"]},"folders":["a"]}'
    assert parse_header(line) == Header("hello", 0, 0, offers={"one": None, "two": Lack(LackKind.FUNCTION, "no function")}, folders=("a",))
    assert parse_header(b'{"kind":"ok","id":3,"size":12,"error":""}') == Header("ok", 3, 12)


def test_half_a_character_is_no_text() -> None:
    line = rb'{"kind":"failed","id":1,"size":0,"error":"it raised \udc80","offers":{"a":["runs","\udc80"]},"folders":["\udc80"]}'
    header = parse_header(line)
    for text in (header.error, *(lack.why for lack in header.offers.values() if lack), *(header.folders or ())):
        text.encode()


json_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3), max_size=2) | st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2)


@settings(max_examples=60)
@given(st.binary() | st.fixed_dictionaries({"kind": json_values, "id": json_values, "size": json_values, "offers": json_values, "folders": json_values}).map(lambda value: json.dumps(value).encode()))
def test_no_line_does_anything_else(line: bytes) -> None:
    try:
        header = parse_header(line)
    except WorkerLost:
        return
    assert 0 <= header.size <= MAX_STDOUT_BYTES
    header.error.encode()
