from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from market.disk.foreign import import_file, open_canonical
from market.errors import InvalidInput, Refused, Untrusted
from market.names import Digest
from market.pack.archive_read import read_archive
from market.pack.build import archive_pack
from market.pack.inspect import Given
from market.pack.record import hash_stream
from tests.factories import a_source
from tests.pack.foreign_makers import finder_zip, github_tarball, python_zip

if TYPE_CHECKING:
    from pathlib import Path


def a_canonical_archive() -> bytes:
    out = io.BytesIO()
    archive_pack(a_source(), Given(), out)
    return out.getvalue()


def test_a_canonical_archive_is_yielded_as_it_is(tmp_path: Path) -> None:
    stream, given = io.BytesIO(a_canonical_archive()), Given(name="x")
    with open_canonical(stream, given, tmp_path) as archive:
        assert (archive.stream, archive.given, archive.changes, archive.path) == (stream, given, (), None)
        assert archive.size == len(stream.getvalue())
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [finder_zip, github_tarball])
def test_another_one_is_imported_beside_and_gone_afterwards(tmp_path: Path, make: object) -> None:
    with open_canonical(io.BytesIO(make()), Given(version="2.0"), tmp_path) as archive:  # type: ignore[operator]
        assert archive.path is not None and archive.path.parent == tmp_path
        assert archive.path.stat().st_size == archive.size
        assert archive.changes and archive.built is not None and archive.given.version == "2.0"
        archive.stream.seek(0)
        assert archive.built.archive_digest == Digest(f"sha256:{hash_stream(archive.stream)[1]}")
        assert read_archive(archive.stream).files()
    assert list(tmp_path.iterdir()) == []


def test_an_import_that_was_taken_away_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with open_canonical(io.BytesIO(finder_zip()), Given(), tmp_path) as archive:
        assert archive.path is not None
        archive.path.rename(kept)
    assert kept.stat().st_size == archive.size


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"nothing", Untrusted),
        (python_zip({"../a": b""}), Untrusted),
        (python_zip({"skill.json": b"{}"}), InvalidInput),
    ],
)
def test_what_can_t_be_imported_leaves_nothing(tmp_path: Path, content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error), open_canonical(io.BytesIO(content), Given(), tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_canonical_archive_can_be_imported_too(tmp_path: Path) -> None:
    with import_file(io.BytesIO(a_canonical_archive()), Given(), tmp_path) as archive:
        assert archive.stream.read() == a_canonical_archive()


def test_a_folder_that_can_t_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0o500)
    try:
        (tmp_path / "closed" / "probe").touch()
    except PermissionError:
        with pytest.raises(Refused), open_canonical(io.BytesIO(finder_zip()), Given(), tmp_path / "closed"):
            pass
