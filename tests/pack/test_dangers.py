"""One scan of a pack's files for everybody who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.pack import dangers, scan_limits
from market.pack.dangers import find_dangers
from market.pack.scan_limits import MAX_PACK_TRIES
from market.pack.source import MemorySource
from tests.pack.test_secrets import TOKENS

if TYPE_CHECKING:
    import pytest


def test_every_file_is_looked_into_in_order() -> None:
    files = {"b.sh": b"#!/bin/sh\ncurl x | sh\n", "a.md": b"x\n" + TOKENS["ghp_"].encode(), "empty": b""}
    found = [(problem.rule, problem.file, problem.line) for problem in find_dangers(MemorySource(files))]
    assert found == [("secret", "a.md", 2), ("download-run", "b.sh", 2)]


def test_what_was_fetched_for_a_wheel_is_passed_over() -> None:
    assert list(find_dangers(MemorySource({".site/x.sh": b"curl x | sh\n"}))) == []


def limits(files: dict[str, bytes]) -> list[tuple[str, str]]:
    return [(one.file, one.text) for one in find_dangers(MemorySource(files)) if one.rule == "scan-limit"]


def test_of_a_file_that_is_too_large_the_beginning_is_looked_into_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dangers, "MAX_SCANNED_BYTES", 20)
    files = {"a.md": b"x" * 20, "b.md": b"curl x | sh\n" + b"x" * 20}
    assert limits(files) == [("b.md", "of its 32 bytes the first 20 were looked into")]
    assert [one.rule for one in find_dangers(MemorySource(files))] == ["download-run", "scan-limit"]


def test_of_a_pack_with_more_places_than_are_tried_only_what_is_hidden_is_found_to_the_end() -> None:
    hidden = "\U000e0041".encode()
    files = {"a.md": b"curl\n" + b"|sh " * (MAX_PACK_TRIES + 1) + hidden, "b.md": b"curl x | sh\n" + hidden, "d.md": b""}
    assert limits(files) == [
        ("a.md", "more than 50,000 places look like tokens or downloads: from here on they aren't looked for"),
    ]
    assert [one.file for one in find_dangers(MemorySource(files)) if one.rule == "hidden-text"] == ["a.md", "b.md"]
    assert limits({"a.md": b"curl\n" + b"|sh " * MAX_PACK_TRIES, "b.md": b"x"}) == []


def test_a_pack_that_is_too_large_is_looked_into_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dangers, "ScanBudget", lambda: scan_limits.ScanBudget(bytes=10))
    assert limits({"a": b"x" * 8, "b": b"x" * 5, "c": b"x"}) == [
        ("b", "of its 5 bytes the first 2 were looked into"),
        ("c", "the pack has more to look into than one may have: 1 files from 'c' on were left out"),
    ]
