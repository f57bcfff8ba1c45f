"""Corrections keep the meaning, touch no other byte, and have nothing left to do the second time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.clients import Grade, judge_guide
from market.pack.fixes import fix_guide, fix_line_ends
from market.pack.front_matter import parse_front_matter
from tests.pack.edge_guides import EDGE_GUIDES


def fixed(head: str, body: str = "\nBody\n") -> str:
    result = fix_guide(f"---\n{head}---\n{body}".encode(), "SKILL.md")
    return result.data.decode().removeprefix("---\n").removesuffix(f"---\n{body}") if result else ""


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("name: a\ndescription: Use when: x\n", "name: a\ndescription: 'Use when: x'\n"),
        ('name: a\ndescription: it\'s: "x"\n', "name: a\ndescription: 'it''s: \"x\"'\n"),
        (
            "name: a\ndescription: Use when: x\n  and y\nlicense: MIT\n",
            "name: a\ndescription: 'Use when: x and y'\nlicense: MIT\n",
        ),
        (
            "description: d\nallowed-tools:\n  - Read\n  - Bash(git:*)\nlicense: MIT\n",
            "description: d\nallowed-tools: Read Bash(git:*)\nlicense: MIT\n",
        ),
        ("description: d\nallowed-tools: [Read, Grep]\n", "description: d\nallowed-tools: Read Grep\n"),
        ("compatibility:\n- git\n- Python 3\n", "compatibility: 'git, Python 3'\n"),
        ("description: d\nauthor: me\n", "description: d\nmetadata:\n  author: me\n"),
        (
            "author: me\ndescription: d\nmetadata:\n    version: '1'\n# end\n",
            "description: d\nmetadata:\n    version: '1'\n    author: me\n# end\n",
        ),
        (
            "tags:\n- a\n- b\nnote: |\n  one\n\n  two\ndescription: d\nmetadata:\n",
            "description: d\nmetadata:\n  tags:\n  - a\n  - b\n  note: |\n    one\n\n    two\n",
        ),
        (
            "name: a\ndescription: Use when: x\nauthor: me\n",
            "name: a\ndescription: 'Use when: x'\nmetadata:\n  author: me\n",
        ),
    ],
)
def test_safe_corrections(head: str, expected: str) -> None:
    assert fixed(head) == expected


@pytest.mark.parametrize(
    "head",
    [
        "name: a\ndescription: d\nlicense: MIT\nallowed-tools: Read\n",
        "description: [unclosed\n",
        "description: d\ndescription: e\n",
        "description: d\nauthor: !!python/object:x y\n",
        "description: d\nuser-invocable: false\ntools: []\nactivation:\n  mode: always\n",
        "description: d\nallowed-tools: ['Bash(git add:*)', Read]\n",
        "description: d\nallowed-tools:\n  - Read # why\n",
        "description: d\nauthor: me\nmetadata: {version: '1'}\n",
        "description: d\nauthor: me\nmetadata:\n  author: you\n",
        "description: d\nauthor: me\nmetadata: text\n",
        "{name: a, description: d, author: me}\n",
        "description: d\nbase: &b {x: y}\nmetadata:\n  more: *b\n",
    ],
)
def test_what_is_not_safe_stays(head: str) -> None:
    assert fixed(head) == ""


def test_a_file_that_cannot_be_read_is_not_touched() -> None:
    for data in (
        b"",
        b"# no front matter\n",
        b"---\nauthor: me\n",
        b"---\nauthor: caf\xe9\n---\n",
        b"---\nauthor: me\rname: x\r---\r",
    ):
        assert fix_guide(data, "SKILL.md") is None


def test_bom_line_ends_and_everything_below_stay_as_they_are() -> None:
    data = (
        b"\xef\xbb\xbf---\r\nname: a\r\ndescription: Use when: x\r\nauthor: me\r\n---\r\nBody \r\nmixed\n\xe2\x98\x83\n"
    )
    result = fix_guide(data, "SKILL.md")
    assert result is not None
    expected = b"\xef\xbb\xbf---\r\nname: a\r\ndescription: 'Use when: x'\r\nmetadata:\r\n  author: me\r\n---\r\nBody \r\nmixed\n\xe2\x98\x83\n"
    assert result.data == expected
    assert result.changes == ("'description' was put in quotes", "'author' was moved under 'metadata'")


@pytest.mark.parametrize("guide", EDGE_GUIDES, ids=[guide.id for guide in EDGE_GUIDES])
def test_a_corrected_guide_means_the_same_and_travels_as_far_or_further(guide: object) -> None:
    data, folder = guide.data, guide.folder  # type: ignore[attr-defined]
    result = fix_guide(data, "SKILL.md")
    if result is None:
        return
    before, after = parse_front_matter(data), parse_front_matter(result.data)
    assert after.body == before.body and after.problems == ()
    assert {"name", "description"} & before.fields.keys() <= after.fields.keys()
    grades = list(Grade)
    assert grades.index(judge_guide(result.data, folder).grade) <= grades.index(judge_guide(data, folder).grade)


HEADS = st.lists(
    st.sampled_from(
        ["name: a", "description: Use when: x", "description: d", "author: me", "version: 1.10", "tags:", "  - a", "- b", "metadata:", "  version: '1'", "    deep: x", "note: |", "  text", "", "# why", "allowed-tools: [Read]", "license: MIT", "  ---", "\ttab: x", "odd"]
    ),
    max_size=9,
)  # fmt: skip


@given(HEADS, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "Body\n", "---\n"]))
def test_the_second_time_nothing_is_left_to_do(lines: list[str], end: str, body: str) -> None:
    data = (end.join(["---", *lines, "---", ""]) + body).encode()
    result = fix_guide(data, "SKILL.md")
    if result is not None:
        assert fix_guide(result.data, "SKILL.md") is None
        assert result.data.endswith(body.encode())
        before, after = parse_front_matter(data), parse_front_matter(result.data)
        assert after.body == before.body
        assert after.fields.get("description") == before.fields.get("description")


def test_line_ends_of_scripts() -> None:
    result = fix_line_ends(b"#!/bin/sh\r\necho\r\nlast", "run.sh")
    assert result is not None
    assert result.data == b"#!/bin/sh\necho\nlast" and result.changes == ("2 line ends from CRLF to LF",)
    for data in (result.data, b"echo\r\n", b"#!x\r\n\0", b""):
        assert fix_line_ends(data, "run.sh") is None
