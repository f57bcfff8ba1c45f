"""The changes that the host makes for its faces. Each is cancelled when the host stops, and nobody waits for one that can't end."""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, TypeVar

from market.errors import Unavailable
from market.host.parts import run_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cancellation import Cancellation
    from market.host.open_work import OpenWork

END_SECONDS = 2.0
"""What a cancelled change may take to end. One that waits for an index, or for a root's lock, doesn't hear of it."""

T = TypeVar("T")
_log = logging.getLogger("market.host")


class ChangeThreads(Executor):
    """Threads of which `count` work at a time, and which don't outlive the process: a root recovers from half a change."""

    def __init__(self, count: int) -> None:
        self._free = threading.Semaphore(count)

    def submit(self, act: Callable[..., T], /, *arguments: Any, **named: Any) -> Future[T]:
        """Do something on a thread of its own, as soon as one is free."""
        future: Future[T] = Future()

        def work() -> None:
            with self._free:
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    result = act(*arguments, **named)
                except BaseException as error:  # it's the one's who waits
                    future.set_exception(error)
                else:
                    future.set_result(result)

        threading.Thread(target=work, name="change", daemon=True).start()
        return future


class OpenChanges:
    """Makes changes, each on one of `threads`. Of the event loop's thread only."""

    def __init__(self, threads: Executor, work: OpenWork) -> None:
        self._threads = threads
        self._work = work

    async def make(self, change: Callable[[Cancellation], T]) -> T:
        """Make a change; raises `Unavailable` when the host is stopping, and where a cancelled one doesn't end and is given up."""
        with self._work.begin() as cancellation:
            making = asyncio.ensure_future(run_in(self._threads, change, cancellation))
            cancelled = asyncio.Event()
            # Cancelled on the event loop's thread, by `OpenWork`.
            with cancellation.on_cancel(cancelled.set):
                waiting = asyncio.ensure_future(cancelled.wait())
                await asyncio.wait({making, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            await asyncio.wait({making}, timeout=END_SECONDS)
            if making.done():
                return making.result()
            making.cancel()
            _log.warning("a change was given up, since %s; the next one in its root recovers it", cancellation.why)
            raise Unavailable(
                "the change was given up", why=cancellation.why, hint="see what is installed, and try again"
            )
