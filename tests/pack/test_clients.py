"""What we say that other programs say, and the grade that follows. The programs themselves are asked in tests/real."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.pack.client_yaml import read_client_yaml
from market.pack.clients import CLIENTS, Grade, judge_guide, judge_guides, worst_grade
from market.pack.inspect import inspect_pack
from market.pack.source import MemorySource
from tests.factories import a_skill_json, a_skill_md, a_source
from tests.pack.edge_guides import EDGE_GUIDES, LETTERS, EdgeGuide


def test_the_table_of_clients_is_closed() -> None:
    assert [client.id for client in CLIENTS] == list(LETTERS.values())


@pytest.mark.parametrize("guide", EDGE_GUIDES, ids=[guide.id for guide in EDGE_GUIDES])
def test_each_client_gets_its_verdict(guide: EdgeGuide) -> None:
    verdict = judge_guide(guide.data, guide.folder, guide.file)
    assert "".join(
        letter if {v.client: v.accepts for v in verdict.clients}[client] else "-" for letter, client in LETTERS.items()
    ) == "".join(letter if letter in guide.takers else "-" for letter in LETTERS), verdict


@pytest.mark.parametrize(
    ("takers", "grade"),
    [
        ("good", Grade.STRICT),
        ("flow list", Grade.PORTABLE),
        ("unknown field", Grade.PORTABLE),
        ("unquoted colon", Grade.LENIENT),
        ("bom", Grade.PORTABLE),
        ("lower-case file name", Grade.NONE),
    ],
)
def test_grades(takers: str, grade: Grade) -> None:
    (guide,) = [guide for guide in EDGE_GUIDES if guide.id == takers]
    assert judge_guide(guide.data, guide.folder, guide.file).grade is grade


def test_a_pack_has_the_grade_of_its_worst_guide() -> None:
    source = MemorySource(
        {
            "a/SKILL.md": a_skill_md("a"),
            "b/SKILL.md": b"---\nname: b\ndescription: x: y\n---\n",
            "c/skill.json": a_skill_json(entry="../run.sh"),
            "run.sh": b"#!/bin/sh\n",
        },
        name="box",
    )
    pack = inspect_pack(source).pack
    assert pack is not None
    verdicts = judge_guides(source, pack)
    assert [(verdict.file, verdict.grade) for verdict in verdicts] == [
        ("a/SKILL.md", Grade.STRICT),
        ("b/SKILL.md", Grade.LENIENT),
    ]
    assert worst_grade(verdict.grade for verdict in verdicts) is Grade.LENIENT


def test_a_command_alone_has_no_grade() -> None:
    source = a_source()
    pack = inspect_pack(source).pack
    assert pack is not None
    assert judge_guides(source, pack) == () and worst_grade([]) is None


def test_a_guide_at_the_top_of_an_archive_lies_in_a_folder_of_the_packs_name() -> None:
    source = MemorySource({"SKILL.md": a_skill_md("greeting")})
    pack = inspect_pack(source).pack
    assert pack is not None
    assert [verdict.grade for verdict in judge_guides(source, pack)] == [Grade.STRICT]


@given(st.binary(max_size=200), st.text(max_size=8))
def test_any_bytes_are_judged_without_a_crash(data: bytes, folder: str) -> None:
    assert len(judge_guide(data, folder).clients) == len(CLIENTS)
    assert len(judge_guide(b"---\n" + data + b"\n---\n", folder).clients) == len(CLIENTS)


def test_what_grows_is_not_expanded() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
    )
    assert read_client_yaml(bomb).fault == ""
    assert read_client_yaml("a: " + "[" * 30_000).fault
