"""What the host has begun for its faces and not yet ended: each part is cancelled when the host stops, after a grace."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from market.cancellation import Cancellation
from market.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

STOPPED = "the host was stopped"


class OpenWork:
    """The cancellations of all that runs. Of the event loop's thread only."""

    def __init__(self, grace_seconds: float) -> None:
        self._grace_seconds = grace_seconds
        self._open: set[Cancellation] = set()
        self._is_stopping = False

    @contextmanager
    def begin(self) -> Iterator[Cancellation]:
        """Give the cancellation of something that lasts as long as the block; raises `Unavailable` when the host is stopping."""
        if self._is_stopping:
            raise Unavailable("the host is stopping", hint="try again when it runs")
        cancellation = Cancellation()
        self._open.add(cancellation)
        try:
            yield cancellation
        finally:
            self._open.discard(cancellation)

    def stop(self) -> None:
        """Let nothing begin any more, and cancel in a while what still runs. The second time the while is over."""
        if self._is_stopping:
            self._cancel_all()
        else:
            self._is_stopping = True
            asyncio.get_running_loop().call_later(self._grace_seconds, self._cancel_all)

    def _cancel_all(self) -> None:
        for cancellation in tuple(self._open):
            cancellation.cancel(STOPPED)
