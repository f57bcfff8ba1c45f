"""Hostile manifests cost a bounded time: each is as large as a manifest may be, and shaped against one part of the parser."""

from __future__ import annotations

import time

import pytest

from market.pack.clients import judge_guide
from market.pack.fixes import fix_guide
from market.pack.inspect import Given, inspect_pack
from market.pack.review import review_pack
from market.pack.source import MemorySource

pytestmark = pytest.mark.flow

MAX_SECONDS = 3.0  # most take milliseconds; the room is for a busy machine
SIZE = 1_000_000

HEAD = "---\nname: x\ndescription: y\n"
FILES = {
    "many aliases": (
        "SKILL.md",
        HEAD + "a: &a [" + "x," * 4000 + "]\n" + "".join(f"b{n}: *a\n" for n in range(10_000)) + "---\n",
    ),
    "spaces in a line": ("SKILL.md", HEAD + "a: b: x" + " " * 250_000 + "y\n---\n"),
    "broken lines": ("SKILL.md", HEAD + "a: b: c\n" * 30_000 + "---\n"),
    "deeper and deeper": ("SKILL.md", HEAD + "".join(" " * n + "a: b: c\n" for n in range(700)) + "---\n"),
    "open fences": ("SKILL.md", "---\n" + "a: b\n" * (SIZE // 5)),
    "fence look-alikes": ("SKILL.md", HEAD + "---x\n" * (SIZE // 5)),
    "blank lines": ("SKILL.md", "\n" * SIZE + "---\n"),
    "blank lines in the body": ("SKILL.md", "---\nname: x\n---\n" + "\n \t" * (SIZE // 3)),
    "quotes": ("SKILL.md", HEAD + "a: '" + "''" * 120_000 + " x\n---\n"),
    "backslashes": ("SKILL.md", HEAD + 'a: "' + "\\" * 250_000 + "\n---\n"),
    "many list items": ("SKILL.md", HEAD + "a:\n" + "- x\n" * 60_000 + "---\n"),
    "bad variables": (
        "skill.json",
        '{"name": "x", "description": "y", "entry": "z", "env_allow": [' + ",\n".join(['"a b"'] * 120_000) + "]}",
    ),
    "unknown fields": ("skill.json", "{" + ",\n".join(f'"clas{n}": 1' for n in range(60_000)) + "}"),
    "repeated keys": ("skill.json", "{" + ",\n".join(['"a": 1'] * 100_000) + "}"),
    "nested lists": ("skill.json", "[" * (SIZE // 2) + "]" * (SIZE // 2)),
    "schema of many parts": (
        "skill.json",
        '{"name": "x", "description": "y", "entry": "z", "schema": {"allOf": ['
        + ",".join(['{"type": 7}'] * 80_000)
        + "]}}",
    ),
    "long number": ("skill.json", '{"timeout_seconds": ' + "9" * SIZE + "}"),
    "many fields": ("SKILL.md", HEAD + "".join(f"k{n}: v\n" for n in range(9_000)) + "---\n"),
    "many fences": ("SKILL.md", "---\n" * (SIZE // 4)),
    "list in list": ("SKILL.md", "---\n" + "- " * (SIZE // 4)),
    "open links": ("SKILL.md", HEAD + "---\n" + "](a" + "/a." * (SIZE // 3)),
    "named files": ("SKILL.md", HEAD + "---\n" + "".join(f"[a](f{n}.md)\n" for n in range(60_000))),
    "scripts": ("SKILL.md", HEAD + "---\n" + "scripts/" * (SIZE // 8)),
    "token heads": ("SKILL.md", HEAD + "---\n" + "ghp_" * (SIZE // 4)),
    "key heads": ("SKILL.md", HEAD + "---\n" + "-----BEGIN PRIVATE KEY-----\n" * (SIZE // 28)),
    "escapes": ("skill.json", '{"name": "' + "\\ud83d\\ude00" * (SIZE // 12) + '"}'),
}


@pytest.mark.parametrize("case", FILES)
def test_hostile_manifests_cost_a_bounded_time(case: str) -> None:
    name, text = FILES[case]
    data = text.encode()
    assert len(data) <= 1 << 20
    started = time.process_time()
    inspection = inspect_pack(MemorySource({name: data}), Given("x", "1"))
    assert time.process_time() - started < MAX_SECONDS
    assert len(inspection.problems) < 1000


@pytest.mark.parametrize("case", FILES)
def test_so_do_the_review_the_other_clients_rules_and_the_corrections(case: str) -> None:
    name, text = FILES[case]
    data = text.encode()
    source = MemorySource({name: data, **{f"x/{number}": b"" for number in range(1000)}})
    pack = inspect_pack(source, Given("x", "1")).pack
    started = time.process_time()
    reviewed = review_pack(source, pack) if pack else ()
    judge_guide(data, "x")
    fix_guide(data, "SKILL.md")
    assert time.process_time() - started < MAX_SECONDS
    assert len(reviewed) < 1000
