"""The calls that the host makes for its faces: each is cancelled when its caller goes away, and all when the host stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from market.host.parts import run_in

if TYPE_CHECKING:
    from concurrent.futures import Executor as Threads

    from starlette.requests import Request
    from starlette.types import Receive

    from market.cancellation import Cancellation
    from market.host.open_work import OpenWork
    from market.model import Call, Outcome
    from market.run.invoke import Invoker


GONE = "its caller went away"


class OpenCalls:
    """Makes calls, each on one of `threads`. Of the event loop's thread only."""

    def __init__(self, invoker: Invoker, threads: Threads, work: OpenWork) -> None:
        self._invoker = invoker
        self._threads = threads
        self._work = work

    async def make(self, request: Request, call: Call) -> Outcome:
        """Make a call whose body was read, for the sender of the request; raises `Unavailable` when the host is stopping."""
        with self._work.begin() as cancellation:
            watching = asyncio.ensure_future(_cancel_when_gone(request.receive, cancellation))
            try:
                return await run_in(self._threads, self._invoker.invoke, call, cancellation)
            finally:
                watching.cancel()
                # Also where nobody waits for the answer any more; one that has ended isn't harmed.
                cancellation.cancel(GONE)


async def _cancel_when_gone(receive: Receive, cancellation: Cancellation) -> None:
    """Wait for the end of the connection: behind the body nothing else comes."""
    while (await receive())["type"] != "http.disconnect":
        continue
    cancellation.cancel(GONE)
