from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from market.disk.identity import identity_at
from market.disk.walk import MAX_WALK_DEPTH, open_folder, open_tree
from market.errors import NotFound, Refused, Severity
from market.pack.record import make_record
from market.pack.source import MemorySource

CONTENTS = {
    "SKILL.md": b"guide",
    "bin/kit": b"#!/bin/sh\n",
    "bin-extra/a.txt": b"a",
    "bin/z/deep.txt": b"",
    "é.txt": b"e",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "my-pack"
    for path, content in CONTENTS.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(content)
    (top / "bin/kit").chmod(0o755)
    return top


def rules_of(folder: Path) -> dict[str, str]:
    return {problem.file: problem.rule for problem in open_folder(folder).problems}


def paths_of(folder: Path) -> list[str]:
    return [file.path for file in open_folder(folder).source.files()]


def test_a_folder_is_the_same_tree_as_its_files_in_memory(folder: Path) -> None:
    opened = open_folder(folder)
    memory = MemorySource(CONTENTS, name="my-pack", executables=frozenset({"bin/kit"}))
    assert opened.source.files() == memory.files()
    assert make_record(opened.source) == make_record(memory)
    assert [opened.source.read(file.path) for file in memory.files()] == [
        memory.read(file.path) for file in memory.files()
    ]
    assert opened.source.name == "my-pack"
    assert (opened.problems, opened.left_out) == ((), ())
    assert opened.directories == ("bin", "bin-extra", "bin/z")


def test_a_folder_has_its_name_however_it_is_called(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "bin")
    assert {open_folder(Path(path)).source.name for path in ("..", "../../my-pack", "../bin/..")} == {"my-pack"}
    assert open_folder(Path()).source.name == "bin"


def test_a_path_that_is_not_listed_is_a_key_error(folder: Path) -> None:
    with pytest.raises(KeyError):
        open_folder(folder).source.read("../my-pack/SKILL.md")
    with pytest.raises(KeyError):
        open_folder(folder).source.open("nothing")


@pytest.mark.parametrize("name", ["nowhere", "my-pack/SKILL.md"])
def test_what_is_no_folder_is_not_found(folder: Path, name: str) -> None:
    with pytest.raises(NotFound):
        open_folder(folder.parent / name)


def test_the_opened_directory_is_read_also_when_another_took_its_name(folder: Path) -> None:
    opened = open_folder(folder)
    identity = identity_at(folder)
    os.rename(folder, folder.with_name("old"))
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(b"new")
    assert opened.source.read("SKILL.md") == b"guide"
    assert opened.source.identity == identity


def test_a_closed_folder_frees_its_descriptor(folder: Path) -> None:
    with open_folder(folder) as opened:
        descriptor = opened.source.descriptor
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config", "__pycache__/a.pyc", "bin/__pycache__/a.pyc", "a.pyc", ".DS_Store", "bin/._kit", "__MACOSX/x", "node_modules/a/b.js",
        ".market/lock", "notes.md~", ".notes.md.swp", ".env", ".env.local", "id_ed25519", "server.pem", ".npmrc",
    ],
)  # fmt: skip
def test_what_is_left_out_is_said(folder: Path, path: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(b"x")
    opened = open_folder(folder)
    assert [file.path for file in opened.source.files()] == sorted(CONTENTS, key=str.encode)
    ((left, why),) = opened.left_out
    assert path.startswith(left.rstrip("/"))
    assert why


@pytest.mark.parametrize(
    "path", [".env.example", ".config/rules.yaml", "Dockerfile", "a.tsv", "nested.tar.gz", ".gitignore", "environment"]
)
def test_what_looks_odd_is_kept(folder: Path, path: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(b"x")
    assert path in paths_of(folder)


def test_links_inside_are_taken_as_files_with_a_warning(folder: Path) -> None:
    (folder / "copy.md").symlink_to("SKILL.md")
    (folder / "absolute.md").symlink_to(folder / "SKILL.md")
    (folder / "tools").symlink_to("bin")
    opened = open_folder(folder)
    assert {problem.rule for problem in opened.problems} == {"folder-link"}
    assert {problem.severity for problem in opened.problems} == {Severity.WARNING}
    assert opened.source.read("copy.md") == opened.source.read("absolute.md") == b"guide"
    assert [file.path for file in opened.source.files() if file.executable] == ["bin/kit", "tools/kit"]
    assert opened.source.read("tools/z/deep.txt") == b""


def test_links_that_lead_nowhere_good_are_named(folder: Path) -> None:
    (folder.parent / "secret").write_bytes(b"s")
    (folder.parent / "my-pack-evil").mkdir()
    links = {
        "up": "../secret", "absolute": "/etc/passwd", "alike": "../my-pack-evil", "dangling": "nothing", "self": "self",
        "loop": ".", "bin/loop": "..", "bin/z/loop": "../../bin", "through": "up",
    }  # fmt: skip
    for name, target in links.items():
        (folder / name).symlink_to(target)
    assert rules_of(folder) == {
        "up": "folder-link-outside",
        "absolute": "folder-link-outside",
        "alike": "folder-link-outside",
        "through": "folder-link-outside",
        "dangling": "folder-link-broken",
        "self": "folder-link-broken",
        "loop": "folder-link-loop",
        "bin/loop": "folder-link-loop",
        "bin/z/loop": "folder-link-loop",
    }
    assert paths_of(folder) == sorted(CONTENTS, key=str.encode)


def test_a_link_to_what_is_left_out_is_left_out(folder: Path) -> None:
    (folder / ".env").write_bytes(b"TOKEN=1")
    (folder / "settings").symlink_to(".env")
    opened = open_folder(folder)
    assert {path for path, _ in opened.left_out} == {".env", "settings"}
    assert opened.problems == ()


@pytest.mark.flow
def test_a_maze_of_links_ends(folder: Path) -> None:
    for number in range(20):
        (folder / f"d{number:02}").mkdir()
        for way in ("left", "right"):
            (folder / f"d{number:02}" / way).symlink_to(f"../d{number + 1:02}")
    (folder / "d20").mkdir()
    rules = [problem.rule for problem in open_folder(folder).problems]
    assert rules.count("folder-too-many-files") == 1


def test_what_is_no_regular_file_is_named(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
    os.close(os.open(os.fsencode(folder) + b"/\xff.txt", os.O_CREAT))
    assert rules_of(folder) == {
        "pipe": "folder-special-file",
        "s": "folder-special-file",
        "\\xff.txt": "folder-name-encoding",
    }


def test_a_deep_folder_is_named(folder: Path) -> None:
    (folder / "/".join("d" * (MAX_WALK_DEPTH + 5))).mkdir(parents=True)
    assert list(rules_of(folder).values()) == ["folder-too-deep"]


def test_a_file_that_became_a_link_after_the_walk_is_not_followed(folder: Path) -> None:
    opened = open_folder(folder)
    (folder / "SKILL.md").unlink()
    (folder / "SKILL.md").symlink_to("/etc/passwd")
    (folder.parent / "bin").mkdir()
    (folder.parent / "bin" / "kit").write_bytes(b"evil")
    os.rename(folder / "bin", folder / "away")
    (folder / "bin").symlink_to("../bin")
    for path in ("SKILL.md", "bin/kit"):
        with pytest.raises(Refused, match="is not read"):
            opened.source.read(path)


def test_an_installed_tree_shows_what_was_added_but_caches(folder: Path) -> None:
    for path in (".env", "node_modules/a.js", "bin/__pycache__/kit.pyc", "notes.md~", "kept.pyc"):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(b"x")
    (folder / "out").symlink_to("/usr")
    opened = open_tree(os.open(folder, os.O_RDONLY), folder, recorded=("kept.pyc",))
    extra = {file.path for file in opened.source.files()} - set(CONTENTS)
    assert extra == {".env", "notes.md~", "kept.pyc"}
    assert [(problem.file, problem.severity) for problem in opened.problems] == [("out", Severity.WARNING)]
