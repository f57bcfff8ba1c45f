"""Where a plugin's prints go: to stderr, since stdout is the answer's alone (`--json` prints one document there).

Both what it prints itself and what a program that it starts writes to the inherited descriptor.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDOUT, _STDERR = 1, 2


class _Diversion:
    """Counts who is inside, since stdout is one for all threads: the first diverts it, the last puts it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._stream: TextIO = sys.stdout
        self._descriptor = -1

    def enter(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            self._stream, sys.stdout = sys.stdout, sys.stderr
            self._flush()  # what we wrote so far is no print of the plugin
            with contextlib.suppress(OSError):  # a server may have no stdout at all
                self._descriptor = os.dup(_STDOUT)
                os.dup2(_STDERR, _STDOUT)

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside:
                return
            sys.stdout = self._stream
            self._flush()  # a plugin may have kept the stream, or found it as `sys.__stdout__`
            if self._descriptor >= 0:
                os.dup2(self._descriptor, _STDOUT)
                os.close(self._descriptor)
                self._descriptor = -1

    def _flush(self) -> None:
        for stream in (self._stream, sys.__stdout__):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()  # type: ignore[union-attr]


_diversion = _Diversion()


@contextlib.contextmanager
def diverted_prints() -> Iterator[None]:
    """Send what is written to stdout meanwhile to stderr, in every thread."""
    _diversion.enter()
    try:
        yield
    finally:
        _diversion.leave()
