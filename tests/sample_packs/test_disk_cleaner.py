"""The disk cleaner finds what is stale, deletes only when told, and never leaves its path."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from market.model import OutcomeKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sample_packs.conftest import Runner

DAY = 86400


def a_file(path: Path, size: int = 100, age_seconds: float = 30 * DAY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    then = time.time() - age_seconds
    os.utime(path, (then, then))
    return path


STALE = (
    "app/__pycache__/a.pyc",
    ".mypy_cache/3.11/deep/x.json",
    "web/node_modules/.cache/babel/1.json",
    "log/app.log.1",
    "log/app.log.12.gz",
    "log/app.log-20260101",
    "journal/system@0123-45.journal",
    "journal/user-1000.journal~",
)
KEPT = ("app/a.py", "log/app.log", "journal/system.journal", ".cache/thing", "web/node_modules/x/index.js", "log/notes.log.txt")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (*STALE, *KEPT):
        a_file(tmp_path / "tree" / name)
    return tmp_path / "tree"


def names(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}


def test_a_dry_run_counts_and_deletes_nothing(tree: Path, run: Runner) -> None:
    assert run("disk-cleaner", "disk_cleaner", path=str(tree)) == {"freed_bytes": 100 * len(STALE), "files_deleted": len(STALE)}
    assert names(tree) == {*STALE, *KEPT}


def test_it_deletes_what_is_stale_and_keeps_the_rest(tree: Path, run: Runner) -> None:
    assert run("disk-cleaner", "disk_cleaner", path=str(tree), dry_run=False) == {"freed_bytes": 800, "files_deleted": 8}
    assert names(tree) == set(KEPT)
    assert run("disk-cleaner", "disk_cleaner", path=str(tree), dry_run=False) == {"freed_bytes": 0, "files_deleted": 0}


def test_what_is_in_use_is_not_stale(tmp_path: Path, run: Runner) -> None:
    a_file(tmp_path / "__pycache__/new.pyc", age_seconds=60)
    a_file(tmp_path / "app.log.1", age_seconds=6 * DAY)
    assert run("disk-cleaner", "disk_cleaner", path=str(tmp_path), dry_run=False)["files_deleted"] == 0


def test_links_are_neither_followed_nor_deleted(tmp_path: Path, run: Runner) -> None:
    outside = a_file(tmp_path / "outside/__pycache__/a.pyc")
    (tmp_path / "tree/__pycache__").mkdir(parents=True)
    (tmp_path / "tree/__pycache__/file").symlink_to(outside)
    (tmp_path / "tree/link").symlink_to(tmp_path / "outside")
    assert run("disk-cleaner", "disk_cleaner", path=str(tmp_path / "tree"), dry_run=False) == {"freed_bytes": 0, "files_deleted": 0}
    assert outside.exists()
    assert (tmp_path / "tree/__pycache__/file").is_symlink()


def test_a_cache_directory_itself_may_be_the_path(tmp_path: Path, run: Runner) -> None:
    a_file(tmp_path / "__pycache__/a.pyc", size=7)
    assert run("disk-cleaner", "disk_cleaner", path=str(tmp_path / "__pycache__"))["freed_bytes"] == 7


def test_a_file_with_a_second_name_frees_nothing(tmp_path: Path, run: Runner) -> None:
    os.link(a_file(tmp_path / "__pycache__/a.pyc"), tmp_path / "kept.pyc")
    assert run("disk-cleaner", "disk_cleaner", path=str(tmp_path), dry_run=False) == {"freed_bytes": 0, "files_deleted": 1}


def test_the_log_lines_say_where(tree: Path, run: Runner) -> None:
    outcome = run.outcome("disk-cleaner", "disk_cleaner", {"path": str(tree)})
    assert f"would delete 1 files, 100 bytes in '{tree}/app/__pycache__'" in outcome.stderr


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ({"path": "relative"}, "must be absolute"),
        ({"path": "/no/such/place"}, "can't open /no/such/place: No such file"),
        ({"path": "/"}, "the whole machine at once is refused"),
        ({"path": "/etc/hostname"}, "can't open /etc/hostname"),
        ({"path": "/tmp", "dry_run": "no"}, "`dry_run` must be true or false"),
        ({}, "`path` must be a directory's path"),
        ([], "stdin must hold an object"),
    ],
)
def test_bad_arguments_get_a_sentence(args: Any, sentence: str, run: Runner) -> None:
    outcome = run.outcome("disk-cleaner", "disk_cleaner", args)
    assert (outcome.kind, outcome.exit_code) == (OutcomeKind.FAILED, 2)
    assert sentence in outcome.error
