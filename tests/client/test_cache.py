from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, BinaryIO

import pytest

from market.client.cache import ArchiveCache
from market.errors import MarketError, Refused, Unavailable, Untrusted
from market.names import Digest

if TYPE_CHECKING:
    from collections.abc import Callable
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


def breaks_after(content: bytes) -> Callable[[BinaryIO], None]:
    def write(out: BinaryIO) -> None:
        out.write(content)
        raise Unavailable("the connection is gone")

    return write


def goes_on_with(rest: bytes) -> Callable[[BinaryIO], None]:
    def write(out: BinaryIO) -> None:
        assert out.tell() > 0
        out.write(rest)

    return write


def test_a_download_that_breaks_before_its_first_byte_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks_after(b""))
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_is_continued_by_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks_after(b"on"))
    assert [path.suffix for path in tmp_path.iterdir()] == [".part"]
    with ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, goes_on_with(b"e")) as stream:
        assert stream.read() == b"one"
    assert [path.suffix for path in tmp_path.iterdir()] == [".zip"]


def test_a_spoilt_beginning_is_thrown_away_and_all_fetched_anew(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks_after(b"xx"))

    def write(out: BinaryIO) -> None:
        out.write(b"one"[out.tell() :])

    with ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, write) as stream:
        assert stream.read() == b"one"


def test_a_beginning_that_does_not_grow_is_not_tried_for_ever(tmp_path: Path) -> None:
    for content in (b"on", b""):
        with pytest.raises(Unavailable):
            ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks_after(content))
    assert list(tmp_path.iterdir()) == []


def test_a_beginning_that_nobody_continues_goes_at_last(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        ArchiveCache(tmp_path).fetch(digest_of(b"one"), 3, breaks_after(b"on"))
    old = next(tmp_path.glob("*.part"))
    os.utime(old, (0, 0))
    fetch(ArchiveCache(tmp_path), b"two")
    assert not old.exists()


def test_without_a_size_the_digest_decides(tmp_path: Path) -> None:
    with ArchiveCache(tmp_path).fetch(digest_of(b"one"), None, lambda out: out.write(b"one")) as stream:
        assert stream.read() == b"one"
    with pytest.raises(Untrusted, match="not the one that was asked for"):
        ArchiveCache(tmp_path).fetch(digest_of(b"two"), None, lambda out: out.write(b"one"))


def test_a_link_in_the_cache_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / f"{digest_of(b'one')[7:]}.part").symlink_to(tmp_path / "mine")
    with pytest.raises(MarketError):
        fetch(ArchiveCache(cache), b"one")
    assert (tmp_path / "mine").read_text() == "mine"


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
