"""Downloaded archives by digest, so that one is fetched once. What is taken out is hashed again: a spoilt file is fetched anew."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from market.client.limits import MAX_CACHE_BYTES
from market.disk.failures import disk_failures
from market.errors import Untrusted
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.names import Digest


class ArchiveCache:
    """A folder of archives, `HEX.zip`. Several processes may use it at once: files appear by rename, whole or not at all."""

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

    def fetch(self, digest: Digest, size: int, write: Callable[[BinaryIO], object]) -> BinaryIO:
        """Open the archive of a digest; where it isn't kept, `write` fills a file that is then checked and kept."""
        kept = self.open(digest)
        if kept is not None:
            return kept
        with disk_failures("keep a downloaded archive in", self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".part-")
            try:
                with os.fdopen(handle, "wb") as out:
                    write(out)
                stream = _open_checked(Path(name), digest, size)
                Path(name).replace(self._path(digest))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        self._shrink(keep=self._path(digest))
        return stream

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


def _open_checked(path: Path, digest: Digest, size: int) -> BinaryIO:
    stream = path.open("rb")
    found_size, sha256 = hash_stream(stream)
    stream.seek(0)
    if (found_size, sha256) != (size, digest.removeprefix("sha256:")):
        stream.close()
        raise Untrusted(
            "the downloaded archive is not the one that the index promised",
            why=f"promised {size} bytes with {digest}, got {found_size} bytes with sha256:{sha256}",
            hint="try again; if it stays, tell the index's operator: a proxy or the index serves wrong bytes",
        )
    return stream


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
