"""What an author should know before a pack is given away. One pack for each rule is in sample-packs/bad."""

from __future__ import annotations

import pytest

from market.pack.inspect import Given, inspect_pack
from market.pack.review import MAX_LISTED_SKILLS, review_pack
from market.pack.source import MemorySource
from tests.factories import RUN_SCRIPT, SAMPLE_PACKS, a_skill_json, a_skill_md, a_source_of


def review(files: dict[str, bytes]) -> list[tuple[str, str]]:
    source = MemorySource(files, name="greeting", executables=frozenset({"run.sh"}))
    pack = inspect_pack(source, Given("box", "1.0")).pack
    assert pack is not None
    return [(problem.rule, problem.place) for problem in review_pack(source, pack)]


@pytest.mark.parametrize(
    "name", sorted(path.name for path in SAMPLE_PACKS.iterdir() if path.is_dir() and path.name != "bad")
)
def test_the_sample_packs_have_nothing_to_say(name: str) -> None:
    source = a_source_of(SAMPLE_PACKS / name)
    pack = inspect_pack(source).pack
    assert pack is not None
    assert review_pack(source, pack) == ()


@pytest.mark.parametrize(
    ("description", "is_said"),
    [
        ("Formats dates.", True),
        ("Formats dates. Use when a date is ambiguous.", False),
        ("Formats dates; use this for letters", False),
        ("Reviews code before it is merged", False),
        ("Formatiert Daten - für Briefe", False),
        ("格式化日期", False),
    ],
)
def test_a_description_says_when(description: str, is_said: bool) -> None:
    found = review({"SKILL.md": a_skill_md(description=description)})
    assert found == ([("description-when", "SKILL.md:3:14")] if is_said else [])


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("Run `scripts/a.py`.", ["SKILL.md:8:6"]),
        ("Run `./scripts/a.py`, then scripts/a.py again.", ["SKILL.md:8:8"]),
        ("Read [more](references/more.md#part).", ["SKILL.md:8:13"]),
        ("Read [more](https://example.invalid/scripts/a.py).", []),
        ("Run `scripts/there.py` or `python3 {baseDir}/scripts/there.py`.", []),
        ("In your project, my-app/scripts/a.py is run.", []),
        ("```\nSee [x](y.md)\npython scripts/a.py\n```", ["SKILL.md:10:8"]),
        ("Look into [the folder](references/deep.d).", []),
    ],
)
def test_files_that_the_text_names_are_there(body: str, places: list[str]) -> None:
    files = {"SKILL.md": a_skill_md(body=f"{body}\n"), "scripts/there.py": b"", "references/deep.d/x": b""}
    assert review(files) == [("file-named-absent", place) for place in places]


def test_names_that_windows_or_old_tar_readers_cut() -> None:
    files = {"SKILL.md": a_skill_md(), "what?.txt": b"", "d" * 60 + "/" + "f" * 50: b""}
    assert review(files) == [("path-length", "d" * 60 + "/" + "f" * 50), ("path-windows", "what?.txt")]


def test_scripts_with_crlf_are_named_and_entries_only_once() -> None:
    files = {"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT.replace(b"\n", b"\r\n"), "other.sh": b"#!/bin/sh\r\n"}
    assert review(files) == [("script-line-ends", "other.sh:1:10")]


def test_a_pack_that_fills_a_prompt_is_told_so() -> None:
    many = {f"s{number:03}/SKILL.md": a_skill_md(f"s{number:03}") for number in range(MAX_LISTED_SKILLS + 1)}
    assert review(many) == [("prompt-budget", "")]
    long = {f"s{number:03}/SKILL.md": a_skill_md(f"s{number:03}", "When " + "x" * 1000) for number in range(20)}
    assert review(long) == [("prompt-budget", "")]
    hidden = {
        path: data.replace(b"---\n\n#", b"disable-model-invocation: true\n---\n\n#") for path, data in long.items()
    }
    assert review(hidden) == []


def test_a_skill_of_many_files_is_told_so() -> None:
    assert review({"SKILL.md": a_skill_md(), **{f"data/{number}": b"" for number in range(512)}}) == [
        ("skill-large", "SKILL.md")
    ]


@pytest.mark.parametrize(
    ("extra", "found"),
    [
        ("license: MIT\nallowed-tools: Read Bash\n", []),
        ("user-invocable: false\nargument-hint: NAME\n", []),
        (
            "author: me\nversion: 1.0\n",
            [("guide-field-unknown", "SKILL.md:6:1"), ("guide-field-unknown", "SKILL.md:7:1")],
        ),
        ("allowed-tools: [Read, Bash]\n", [("guide-field-list", "SKILL.md:6:1")]),
        ("allowed-tools: ['Bash(git add:*)']\n", []),
    ],
)
def test_fields_that_strict_readers_refuse(extra: str, found: list[tuple[str, str]]) -> None:
    assert review({"SKILL.md": a_skill_md(extra=extra)}) == found
