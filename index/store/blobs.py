"""Files by their digest, in a folder: written beside, synced, renamed, and the folder synced. Nothing is ever changed in place.

Whether anything still refers to a blob isn't known here.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from index.store.database import make_private
from market.errors import MarketError, NotFound, Refused, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.names import Digest

SHARDS = 256


class FolderBlobs:
    """`<folder>/sha256/ab/<hex>`, and `<folder>/incoming/` for what is still arriving (same file system, so a rename is enough)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.incoming = folder / "incoming"

    def create(self) -> None:
        """Make the folders, all shards at once, so that keeping a blob syncs one directory and not three."""
        with blob_failures():
            for path in (self._folder, self.incoming):
                make_private(path)
            for shard in range(SHARDS):
                (self._folder / "sha256" / f"{shard:02x}").mkdir(parents=True, exist_ok=True)
            _sync(self._folder / "sha256")
            _sync(self._folder)

    def path_of(self, digest: Digest) -> Path:
        """Return where a blob is or would be."""
        hexadecimal = digest.removeprefix("sha256:")
        return self._folder / "sha256" / hexadecimal[:2] / hexadecimal

    def keep(self, arrived: Path, digest: Digest) -> None:
        """Take a finished file out of `incoming`; when this returns, the blob survives a power cut. The same blob again is fine."""
        path = self.path_of(digest)
        with blob_failures():
            _sync(arrived)
            # A power cut before the folder's sync loses the name only: an orphan, or no file at all, and never half of one.
            arrived.chmod(0o444)
            arrived.replace(path)
            _sync(path.parent)

    def open(self, digest: Digest) -> BinaryIO:
        """Open a blob for reading."""
        try:
            return self.path_of(digest).open("rb")
        except FileNotFoundError:
            raise NotFound(f"there is no blob {digest}") from None

    def size_of(self, digest: Digest) -> int | None:
        """Return a blob's size in bytes, or None where there is none."""
        try:
            return self.path_of(digest).stat().st_size
        except FileNotFoundError:
            return None


@contextmanager
def blob_failures() -> Iterator[None]:
    """Turn the file system's errors into ours."""
    try:
        yield
    except PermissionError as error:
        raise Refused(
            f"the index can't write {error.filename}",
            why=str(error.strerror),
            hint="check the owner and mode of the data folder",
        ) from error
    except OSError as error:
        raise _no_room(error) from error


def _no_room(error: OSError) -> MarketError:
    return Unavailable(
        "the index can't store the archive",
        why=f"{error.strerror}: {error.filename}",
        hint="check the disk of the data folder",
    )


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
