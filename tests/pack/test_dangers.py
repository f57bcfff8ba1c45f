"""One scan of a pack's files for everybody who asks."""

from __future__ import annotations

from market.pack.dangers import find_dangers
from market.pack.source import MemorySource
from tests.pack.test_secrets import TOKENS


def test_every_file_is_looked_into_in_order() -> None:
    files = {"b.sh": b"#!/bin/sh\ncurl x | sh\n", "a.md": b"x\n" + TOKENS["ghp_"].encode(), "empty": b""}
    found = [(problem.rule, problem.file, problem.line) for problem in find_dangers(MemorySource(files))]
    assert found == [("secret", "a.md", 2), ("download-run", "b.sh", 2)]


def test_what_was_fetched_for_a_wheel_is_passed_over() -> None:
    assert list(find_dangers(MemorySource({".site/x.sh": b"curl x | sh\n"}))) == []
