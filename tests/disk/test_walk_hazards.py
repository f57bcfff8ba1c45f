"""What a folder may hold besides files: each is named, nothing is skipped without a word, and publishing such a folder fails with the path."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.disk.walk import open_folder
from market.errors import Severity
from market.pack.record import make_record

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65_534
IS_ROOT = os.geteuid() == 0


@contextmanager
def as_nobody() -> Iterator[None]:
    """Lose the right to read everything, where the tests are run by root."""
    if IS_ROOT:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if IS_ROOT:
            os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter: pytest's own is closed to others."""
    top = Path(tempfile.mkdtemp(prefix="market-walk-"))
    top.chmod(0o755)
    (top / "SKILL.md").write_bytes(b"guide")
    (top / "SKILL.md").chmod(0o644)
    yield top
    for path in top.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)
    shutil.rmtree(top)


def rules_of(folder: Path) -> dict[str, str]:
    with open_folder(folder) as opened:
        return {problem.file: problem.rule for problem in opened.problems}


def test_a_folder_that_may_not_be_entered_is_named(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o700)
    (folder / "closed" / "file").write_bytes(b"x")
    (folder / "closed").chmod(0o000)
    with as_nobody():
        assert rules_of(folder) == {"closed": "folder-unreadable"}


def test_a_file_that_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "closed.txt").write_bytes(b"x")
    (folder / "closed.txt").chmod(0o000)
    with as_nobody():
        assert rules_of(folder) == {"closed.txt": "folder-unreadable"}


@pytest.mark.skipif(not IS_ROOT, reason="only root makes devices")
@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK])
def test_a_device_is_named_and_never_opened(folder: Path, kind: int) -> None:
    try:
        os.mknod(folder / "device", kind | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("this container makes no devices")
    assert rules_of(folder) == {"device": "folder-special-file"}


@pytest.mark.skipif(not IS_ROOT, reason="only root makes devices")
def test_a_link_to_a_device_is_named(folder: Path) -> None:
    (folder / "null").symlink_to("/dev/null")
    assert rules_of(folder) == {"null": "folder-link-outside"}


@pytest.mark.parametrize("name", [b"\xff.txt", b"caf\xe9.md", b"a\xed\xa0\x80", b"bad-\x80/file"])
def test_a_name_that_is_not_utf_8_is_an_error_wherever_it_stands(folder: Path, name: bytes) -> None:
    path = os.fsencode(folder) + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT, 0o644))
    with open_folder(folder) as opened:
        assert [problem.rule for problem in opened.problems] == ["folder-name-encoding"]
        assert opened.problems[0].severity is Severity.ERROR
        opened.problems[0].file.encode()


def test_a_chain_of_links_inside_is_taken_as_the_file_at_its_end(folder: Path) -> None:
    (folder / "docs").mkdir()
    (folder / "docs" / "real.md").write_bytes(b"text")
    (folder / "one").symlink_to("docs/real.md")
    (folder / "two").symlink_to("one")
    with open_folder(folder) as opened:
        assert opened.source.read("two") == opened.source.read("one") == b"text"
        assert {problem.severity for problem in opened.problems} == {Severity.WARNING}


def test_a_link_inside_through_a_link_outside_is_refused(folder: Path) -> None:
    outside = Path(tempfile.mkdtemp(prefix="market-outside-"))
    try:
        (outside / "secret").write_bytes(b"s")
        (folder / "away").symlink_to(outside)
        (folder / "inner").symlink_to("away/secret")
        assert rules_of(folder) == {"away": "folder-link-outside", "inner": "folder-link-outside"}
    finally:
        shutil.rmtree(outside)


def test_two_names_of_one_file_are_two_files(folder: Path) -> None:
    os.link(folder / "SKILL.md", folder / "copy.md")
    with open_folder(folder) as opened:
        assert [file.path for file in opened.source.files()] == ["SKILL.md", "copy.md"]
        assert opened.problems == ()


def test_dangerous_modes_of_a_folder_s_files_do_not_count(folder: Path) -> None:
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    with open_folder(folder) as opened:
        plain = make_record(opened.source)
    (folder / "run.sh").chmod(0o6777)
    with open_folder(folder) as opened:
        assert make_record(opened.source) == plain
