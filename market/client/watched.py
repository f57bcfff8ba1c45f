"""A file that tells how far a download into it has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO


class WatchedFile:
    """Writes to a file and calls `tell_progress` with its position. Everything else is the file's own."""

    def __init__(self, out: BinaryIO, tell_progress: Callable[[int], None]) -> None:
        self._out = out
        self._tell_progress = tell_progress

    def write(self, data: bytes) -> int:
        """Write and tell."""
        count = self._out.write(data)
        self._tell_progress(self._out.tell())
        return count

    def __getattr__(self, name: str) -> Any:
        return getattr(self._out, name)
