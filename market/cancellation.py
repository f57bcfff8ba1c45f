"""The wish to end a call before its time: made where the call begins, handed down to what runs it. What ends it is the executor's."""

from __future__ import annotations

import logging
import threading
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger("market")


class Cancelled(Exception):
    """The call was cancelled before anything of it ran; the text says why."""


class Cancellation:
    """Says once, and for good, that a call shall end. Safe to use from any thread.

    `why` is empty until then. It is a sentence's end: `the caller went away`.
    """

    def __init__(self) -> None:
        self.why = ""
        self._lock = threading.Lock()
        self._acts: list[Callable[[], None]] = []

    def cancel(self, why: str) -> None:
        """Have the call end; the first reason stays. Returns when every act has been told, not when the call has ended."""
        with self._lock:
            if not self.why:
                self.why = why
                for act in self._acts:
                    _tell(act)

    def on_cancel(self, act: Callable[[], None]) -> AbstractContextManager[None]:
        """Have `act` called if the call is cancelled while the block lasts, or was before; after the block it isn't running any more.

        It is called on the thread that cancels, which waits for it: it must be quick, and must not enter or leave such a block itself.
        Don't hold a lock that `act` takes while you enter or leave.
        """
        return _Block(self, act)

    def _begin(self, act: Callable[[], None]) -> None:
        with self._lock:
            self._acts.append(act)
            if self.why:
                _tell(act)

    def _end(self, act: Callable[[], None]) -> None:
        with self._lock:
            self._acts.remove(act)

    def check(self) -> None:
        """Raise `Cancelled` if the call shall end."""
        if self.why:
            raise Cancelled(self.why)


class _Block(AbstractContextManager[None]):
    """What `on_cancel` returns: a class, since a generator would cost each call of a skill several microseconds."""

    __slots__ = ("_act", "_cancellation")

    def __init__(self, cancellation: Cancellation, act: Callable[[], None]) -> None:
        self._cancellation = cancellation
        self._act = act

    def __enter__(self) -> None:
        self._cancellation._begin(self._act)

    def __exit__(self, *_: object) -> None:
        self._cancellation._end(self._act)


def _tell(act: Callable[[], None]) -> None:
    try:
        act()
    except BaseException as error:  # a plugin's, perhaps; the others must be told
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # a person's: Python raises it nowhere else
        _log.exception("what ends a cancelled call failed")


NEVER = Cancellation()
"""For calls that nobody ends before their time. Nobody cancels it."""
