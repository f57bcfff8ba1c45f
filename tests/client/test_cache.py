from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, BinaryIO

import pytest

from market.client.cache import ArchiveCache
from market.errors import Refused, Unavailable, Untrusted
from market.names import Digest

if TYPE_CHECKING:
    from pathlib import Path


def digest_of(content: bytes) -> Digest:
    return Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")


def fetch(cache: ArchiveCache, content: bytes, sent: bytes | None = None) -> bytes:
    def write(out: BinaryIO) -> None:
        out.write(content if sent is None else sent)

    with cache.fetch(digest_of(content), len(content), write) as stream:
        return stream.read()


def never(out: BinaryIO) -> None:
    raise AssertionError("asked for what is kept")


def test_an_archive_is_fetched_once(tmp_path: Path) -> None:
    cache = ArchiveCache(tmp_path / "cache")
    assert fetch(cache, b"one") == b"one"
    with cache.fetch(digest_of(b"one"), 3, never) as stream:
        assert stream.read() == b"one"


def test_a_spoilt_file_is_fetched_anew(tmp_path: Path) -> None:
    cache = ArchiveCache(tmp_path)
    fetch(cache, b"one")
    next(tmp_path.glob("*.zip")).write_bytes(b"two")
    assert fetch(cache, b"one") == b"one"


@pytest.mark.parametrize("sent", [b"other", b"on", b"one more", b""])
def test_other_bytes_than_promised_are_not_kept(tmp_path: Path, sent: bytes) -> None:
    with pytest.raises(Untrusted, match="not the one that the index promised"):
        fetch(ArchiveCache(tmp_path), b"one", sent)
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    def breaks(out: BinaryIO) -> None:
        out.write(b"o")
        raise Unavailable("the connection is gone")

    with pytest.raises(Unavailable):
        ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks)
    assert list(tmp_path.iterdir()) == []


def test_the_cache_keeps_what_came_last(tmp_path: Path) -> None:
    cache = ArchiveCache(tmp_path, limit_bytes=10)
    for number, content in enumerate((b"aaaa", b"bbbb", b"cccc")):
        fetch(cache, content)
        os.utime(tmp_path / f"{digest_of(content)[7:]}.zip", (number, number))
    fetch(cache, b"dddd")
    assert sorted(path.read_bytes() for path in tmp_path.glob("*.zip")) == [b"cccc", b"dddd"]


def test_one_that_is_larger_than_the_whole_cache_is_still_usable(tmp_path: Path) -> None:
    assert fetch(ArchiveCache(tmp_path, limit_bytes=1), b"large") == b"large"


def test_a_cache_that_can_t_be_made_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises((Refused, Unavailable, Exception), match="file"):
        fetch(ArchiveCache(tmp_path / "file" / "cache"), b"one")
