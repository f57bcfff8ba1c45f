from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.disk import lease
from market.disk.identity import identity_at, identity_of
from market.disk.lease import claim_directory, is_leased, lease_directory
from market.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from pathlib import Path


def test_many_may_lease_and_the_last_one_frees(tmp_path: Path) -> None:
    first, second = lease_directory(tmp_path), lease_directory(tmp_path)
    assert identity_of(first) == identity_at(tmp_path)
    os.close(first)
    assert is_leased(tmp_path)
    os.close(second)
    assert not is_leased(tmp_path)


def test_nothing_and_files_are_not_leased(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("nothing", "file"):
        assert not is_leased(tmp_path / name)
        with pytest.raises(NotFound):
            lease_directory(tmp_path / name)


def test_a_tree_that_is_being_deleted_is_not_leased(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "MAX_LEASE_ATTEMPTS", 3)
    claimed = os.open(tmp_path, os.O_RDONLY)
    assert claim_directory(claimed)
    with pytest.raises(Unavailable):
        lease_directory(tmp_path)
    os.close(claimed)
    os.close(lease_directory(tmp_path))


def test_a_lease_is_on_the_tree_that_has_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live, other, kept = tmp_path / "live", tmp_path / "other", tmp_path / "kept"
    live.mkdir()
    other.mkdir()
    real = os.open

    def switch_meanwhile(path: Path, flags: int) -> int:
        descriptor = real(path, flags)
        if not kept.exists():
            live.rename(kept)
            other.rename(live)
        return descriptor

    monkeypatch.setattr(os, "open", switch_meanwhile)
    descriptor = lease_directory(live)
    assert identity_of(descriptor) == identity_at(live)
    os.close(descriptor)
