"""Files by their digest, in a folder: written beside, synced, renamed, and the folder synced. Nothing is ever changed in place.

Whether anything still refers to a blob isn't known here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from index.store.database import make_private
from market.disk.atomic import fsync_directory
from market.disk.failures import disk_failures
from market.errors import NotFound
from market.web.bodies import storage_failures

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from market.names import Digest

SHARDS = 256
STALE_UPLOAD_SECONDS = 24 * 3600


class FolderBlobs:
    """`<folder>/sha256/ab/<hex>`, and `<folder>/incoming/` for what is still arriving (same file system, so a rename is enough)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.incoming = folder / "incoming"

    def create(self) -> None:
        """Make the folders, all shards at once, so that keeping a blob syncs one directory and not three."""
        make_private(self._folder)
        make_private(self.incoming)
        with disk_failures("create", self._folder):
            for shard in range(SHARDS):
                (self._folder / "sha256" / f"{shard:02x}").mkdir(parents=True, exist_ok=True)
            fsync_directory(self._folder / "sha256")
            fsync_directory(self._folder)

    def sweep(self, now: datetime) -> None:
        """Delete uploads that a killed process left behind; only old ones, since another process may be receiving."""
        with disk_failures("clean", self.incoming):
            for path in self.incoming.iterdir():
                if now.timestamp() - path.stat().st_mtime > STALE_UPLOAD_SECONDS:
                    path.unlink(missing_ok=True)

    def path_of(self, digest: Digest) -> Path:
        """Return where a blob is or would be."""
        hexadecimal = digest.removeprefix("sha256:")
        return self._folder / "sha256" / hexadecimal[:2] / hexadecimal

    def keep(self, arrived: Path, digest: Digest) -> None:
        """Take a finished file out of `incoming`; when this returns, the blob survives a power cut. The same blob again is fine."""
        path = self.path_of(digest)
        with storage_failures():
            _sync_file(arrived)
            arrived.chmod(0o444)
            # A power cut before the folder's sync loses the name only: an orphan, or no file at all, and never half of one.
            arrived.replace(path)
            fsync_directory(path.parent)

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


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
