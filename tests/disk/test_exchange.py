from __future__ import annotations

import ctypes
import errno
from typing import TYPE_CHECKING

import pytest

from market.disk import exchange as room
from market.disk.exchange import ExchangeUnsupported, exchange, rename_new
from market.disk.identity import identity_at

if TYPE_CHECKING:
    from pathlib import Path


def unsupported(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*_: object) -> int:
        ctypes.set_errno(code)
        return -1

    monkeypatch.setattr(room, "_find_renameat2", lambda: refuse)


def test_two_directories_swap_their_names(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    identities = identity_at(tmp_path / "a"), identity_at(tmp_path / "b")
    exchange(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a" / "file").read_text() == "b"
    assert (identity_at(tmp_path / "b"), identity_at(tmp_path / "a")) == identities


@pytest.mark.parametrize("code", [0, errno.EINVAL])
def test_a_rename_never_replaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    if code:
        unsupported(monkeypatch, code)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(FileExistsError):
        rename_new(tmp_path / "a", tmp_path / "b")
    rename_new(tmp_path / "a", tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_that_can_not_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    unsupported(monkeypatch, code)
    with pytest.raises(ExchangeUnsupported):
        exchange(tmp_path / "a", tmp_path / "b")


def test_a_library_without_the_call_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_find_renameat2", lambda: None)
    with pytest.raises(ExchangeUnsupported):
        exchange(tmp_path / "a", tmp_path / "b")


def test_other_failures_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "a", tmp_path / "b")
    assert identity_at(tmp_path / "a") is None
