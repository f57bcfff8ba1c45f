"""Downloaded archives by digest, so that one is fetched once. What is taken out is hashed again: a spoilt file is fetched anew."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from market.client.limits import MAX_CACHE_BYTES, MAX_PART_AGE_SECONDS, SHARED_DOWNLOAD_SECONDS
from market.disk.failures import disk_failures
from market.errors import Unavailable, Untrusted
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from market.names import Digest

POLL_SECONDS = 0.05


class ArchiveCache:
    """A folder of archives, `HEX.zip`, and of begun ones, `HEX.part`. Several processes may use it at once.

    Archives appear by rename, whole or not at all, and a part has one writer.
    """

    def __init__(self, folder: Path, *, limit_bytes: int = MAX_CACHE_BYTES) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes

    def open(self, digest: Digest) -> BinaryIO | None:
        """Open a kept archive, or return None where there is none or it isn't what its name says."""
        path = self._path(digest)
        try:
            stream = path.open("rb")
        except OSError:
            return None
        if hash_stream(stream)[1] != digest.removeprefix("sha256:"):
            stream.close()
            path.unlink(missing_ok=True)
            return None
        stream.seek(0)
        return stream

    def fetch(self, digest: Digest, size: int | None, write: Callable[[BinaryIO], object]) -> BinaryIO:
        """Open the archive of a digest; where it isn't kept, `write` fills a file that is then checked and kept.

        The file may hold the beginning that an earlier, broken download left. Processes that want the same archive wait for the
        one that downloads it. Without a size only the digest is checked.
        """
        kept = self.open(digest)
        if kept is not None:
            return kept
        with disk_failures("keep a downloaded archive in", self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with hold_part(self._part(digest)) as part:
                stream = self.open(digest)
                if stream is None:
                    stream = self._fill(part, digest, size, write)
                else:  # another process finished it while this one waited
                    self._part(digest).unlink(missing_ok=True)
        self._shrink(keep=self._path(digest))
        return stream

    def _fill(self, part: BinaryIO, digest: Digest, size: int | None, write: Callable[[BinaryIO], object]) -> BinaryIO:
        """Download into the part that this process holds, and keep it where it is what its name says."""
        path, start = self._part(digest), part.seek(0, 2)
        try:
            write(part)
            part.flush()
            stream = open_checked(path, digest, size)
        except Untrusted:
            # What an earlier download left may have been spoilt; what came now, in one piece, is what the index sends.
            part.truncate(part.seek(0))
            if start:
                return self._fill(part, digest, size, write)
            path.unlink(missing_ok=True)
            raise
        except BaseException:
            if part.seek(0, 2) in (0, start):
                path.unlink(missing_ok=True)
            raise
        path.replace(self._path(digest))
        return stream

    def _part(self, digest: Digest) -> Path:
        return self._path(digest).with_suffix(".part")

    def _path(self, digest: Digest) -> Path:
        return self._folder / f"{digest.removeprefix('sha256:')}.zip"

    def _shrink(self, keep: Path) -> None:
        """Delete the archives that were kept longest ago until the rest fits. What another process has open stays readable for it."""
        rows = sorted(
            (
                (status.st_mtime, status.st_size, path)
                for path in self._folder.glob("*.zip")
                if (status := _status(path))
            ),
            reverse=True,
        )
        total = 0
        for _, size, path in rows:
            total += size
            if total > self._limit_bytes and path != keep:
                path.unlink(missing_ok=True)
        for path in self._folder.glob("*.part"):
            if (status := _status(path)) and time.time() - status.st_mtime > MAX_PART_AGE_SECONDS:
                path.unlink(missing_ok=True)


@contextmanager
def hold_part(path: Path) -> Iterator[BinaryIO]:
    """Open a file for one process alone, made if it is missing. The kernel frees it when the holder dies.

    Raises `Unavailable` where another process keeps it for `SHARED_DOWNLOAD_SECONDS`.
    """
    deadline = time.monotonic() + SHARED_DOWNLOAD_SECONDS
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b") as part:
            _wait(handle, path, deadline)
            # Whoever held it before may have renamed or deleted it: then this is the lock of a file that nobody finds any more.
            standing = _status(path)
            if standing is not None and os.path.samestat(standing, os.fstat(handle)):
                yield part
                return


def _wait(handle: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"another process has been downloading {path.stem} for too long",
                    why=f"waited {SHARED_DOWNLOAD_SECONDS:g} s for {path}",
                    hint="end that process, or wait for it",
                ) from None
            time.sleep(POLL_SECONDS)
        else:
            return


def open_checked(path: Path, digest: Digest, size: int | None) -> BinaryIO:
    """Open a downloaded file that has the promised digest and size; raises `Untrusted` where it hasn't."""
    stream = path.open("rb")
    found_size, sha256 = hash_stream(stream)
    stream.seek(0)
    if sha256 != digest.removeprefix("sha256:") or size not in (None, found_size):
        stream.close()
        promised = digest if size is None else f"{size} bytes with {digest}"
        raise Untrusted(
            f"the downloaded archive is not the one that {'was asked for' if size is None else 'the index promised'}",
            why=f"promised {promised}, got {found_size} bytes with sha256:{sha256}",
            hint="try again; if it stays, tell the operator of the server: it, or a proxy, sends wrong bytes",
        )
    return stream


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
