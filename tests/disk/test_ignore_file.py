"""What an author leaves out: the syntax of .gitignore, kept manifests, and one list for everything that is given away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.disk.ignore_file import IGNORE_FILE, MAX_IGNORE_LINES
from market.disk.walk import open_folder
from market.errors import Severity
from tests.factories import a_skill_md

if TYPE_CHECKING:
    from pathlib import Path

    from market.disk.walk import Folder

FILES = {
    "SKILL.md": a_skill_md(),
    "notes.md": b"",
    "notes.txt": b"",
    "build/out.bin": b"",
    "src/build/x": b"",
    "src/a.log": b"",
    "src/keep.log": b"",
    "examples/one/SKILL.md": a_skill_md("one"),
    "pack.yaml": b"name: greeting\n",
    "server.pem": b"x",
    ".git/config": b"",
}


def walk(folder: Path, patterns: str | bytes) -> Folder:
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / IGNORE_FILE).write_bytes(patterns.encode() if isinstance(patterns, str) else patterns)
    return open_folder(folder)


def paths(folder: Folder) -> set[str]:
    return {file.path for file in folder.source.files()}


@pytest.mark.parametrize(
    ("patterns", "gone"),
    [
        ("", set()),
        ("# only a remark\n\n", set()),
        ("*.txt\n", {"notes.txt"}),
        ("build/\n", {"build/out.bin", "src/build/x"}),
        ("/build\n", {"build/out.bin"}),
        ("*.log\n!keep.log\n", {"src/a.log"}),
        ("src/**\n!src/keep.log\n", {"src/a.log", "src/build/x"}),
        ("\ufeffnotes.*\r\n", {"notes.md", "notes.txt"}),
        ("examples\n", {"examples/one/SKILL.md"}),
    ],
)
def test_patterns_leave_out_what_git_would_ignore(tmp_path: Path, patterns: str, gone: set[str]) -> None:
    folder = walk(tmp_path, patterns)
    assert paths(folder) == FILES.keys() - gone - {"server.pem", ".git/config"}
    assert folder.problems == ()


def test_what_is_left_out_is_told_with_its_line(tmp_path: Path) -> None:
    left_out = dict(walk(tmp_path, "# remark\n*.txt\n\nbuild/\n").left_out)
    assert left_out["notes.txt"] == ".marketignore:2" and left_out["build/"] == ".marketignore:4"
    assert left_out[".marketignore"] == "says what is left out"
    assert left_out["server.pem"] == "looks like a secret"


def test_a_manifest_is_kept_and_the_author_told(tmp_path: Path) -> None:
    folder = walk(tmp_path, "*.md\n*.yaml\n")
    assert {"SKILL.md", "pack.yaml", "examples/one/SKILL.md"} <= paths(folder) and "notes.md" not in paths(folder)
    assert [(problem.rule, problem.severity, problem.file) for problem in folder.problems] == [
        ("folder-ignored-manifest", Severity.WARNING, path)
        for path in ("SKILL.md", "examples/one/SKILL.md", "pack.yaml")
    ]
    assert "SKILL.md" in paths(walk(tmp_path, "*\n"))


def test_the_written_list_can_be_overruled_but_for_what_nobody_may_have(tmp_path: Path) -> None:
    folder = walk(tmp_path, "!*.pem\n!.git/\n!.marketignore\n")
    assert "server.pem" in paths(folder)
    assert not {".git/config", IGNORE_FILE} & paths(folder)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"caf\xe9\n", ".marketignore"),
        (b"x\n" * (MAX_IGNORE_LINES + 1), ".marketignore"),
        (b"good\n!\n", ".marketignore:2"),
    ],
)
def test_a_list_that_cannot_be_read_is_an_error(tmp_path: Path, data: bytes, place: str) -> None:
    (problem,) = walk(tmp_path, data).problems
    assert (problem.rule, problem.severity, problem.place) == ("folder-ignore-file", Severity.ERROR, place)


def test_a_list_behind_a_link_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / IGNORE_FILE).symlink_to("/etc/hostname")
    assert "folder-ignore-file" in [problem.rule for problem in open_folder(tmp_path / "a").problems]


def test_a_list_below_the_top_is_left_out_and_has_no_effect(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / IGNORE_FILE).write_text("*\n")
    assert "src/a.log" in paths(walk(tmp_path, ""))
