"""What another program made is imported by the index, which says what it changed; what it stores is canonical."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from market.pack.archive_read import read_archive
from tests.factories import a_skill_json
from tests.pack.foreign_makers import finder_zip, github_tarball, github_zip, python_zip, tar_gz, windows_zip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.index.builders import AnIndex


@pytest.mark.parametrize("make", [finder_zip, windows_zip, github_zip, github_tarball])
def test_a_foreign_archive_is_imported_and_every_change_said(
    index: AnIndex, make: Callable[[], bytes], tmp_path: Path
) -> None:
    answer = index.put(make())
    assert answer.status == 201, answer.json
    assert {problem["rule"] for problem in answer.json["problems"]} >= {"import-form", "import-wrapper"}
    (blob,) = [path for path in (tmp_path / "data" / "blobs" / "sha256").rglob("*") if path.is_file()]
    stored = io.BytesIO(blob.read_bytes())
    assert read_archive(stored).files()
    release = index.get("/v1/packs/echo-args/1.0.0/index.json").json
    assert release["archive"]["size"] == len(stored.getvalue())
    assert list((tmp_path / "data" / "blobs" / "incoming").iterdir()) == []


def test_the_same_tree_in_another_wrapping_is_the_same_release(index: AnIndex) -> None:
    files = {"skill.json": a_skill_json(), "run.sh": b"#!/bin/sh\ncat\n"}
    first, second = index.put(python_zip(files)), index.put(tar_gz(files, {"run.sh": 0o755}))
    assert (first.status, second.status) == (201, 200)
    assert first.json["tree_digest"] == second.json["tree_digest"]


def test_a_hostile_archive_is_refused_and_leaves_nothing(index: AnIndex, tmp_path: Path) -> None:
    for body in (python_zip({"../evil": b""}), tar_gz({"/etc/x": b""}), b"\x1f\x8b\x08 no gzip"):
        answer = index.put(body)
        assert (answer.status, answer.json["code"]) == (422, "untrusted")
        assert answer.json["problems"]
    assert list((tmp_path / "data" / "blobs" / "incoming").iterdir()) == []
    assert index.get("/v1/packs").json["total"] == 0


def test_a_bad_pack_inside_is_refused_with_every_problem(index: AnIndex) -> None:
    answer = index.put(python_zip({"skill.json": a_skill_json(name="Bad Name", entry="gone")}))
    assert (answer.status, answer.json["code"]) == (422, "invalid-input")
    assert {problem["rule"] for problem in answer.json["problems"]} >= {"skill-name"}
