"""The calls that the host makes for its faces: each is cancelled when its caller goes away, and all when the host stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from market.cancellation import Cancellation
from market.errors import Unavailable
from market.host.parts import run_in

if TYPE_CHECKING:
    from concurrent.futures import Executor as Threads

    from starlette.requests import Request
    from starlette.types import Receive

    from market.model import Call, Outcome
    from market.run.invoke import Invoker


GONE = "its caller went away"


class OpenCalls:
    """The calls under way, each on one of `threads`. Of the event loop's thread only."""

    def __init__(self, invoker: Invoker, threads: Threads, grace_seconds: float) -> None:
        self._invoker = invoker
        self._threads = threads
        self._grace_seconds = grace_seconds
        self._open: set[Cancellation] = set()
        self._is_stopping = False

    async def make(self, request: Request, call: Call) -> Outcome:
        """Make a call whose body was read, for the sender of the request; raises `Unavailable` when the host is stopping."""
        if self._is_stopping:
            raise Unavailable("the host is stopping", hint="try again when it runs")
        cancellation = Cancellation()
        self._open.add(cancellation)
        watching = asyncio.ensure_future(_cancel_when_gone(request.receive, cancellation))
        try:
            return await run_in(self._threads, self._invoker.invoke, call, cancellation)
        finally:
            watching.cancel()
            # Also where nobody waits for the answer any more; one that has ended isn't harmed.
            cancellation.cancel(GONE)
            self._open.discard(cancellation)

    def stop(self) -> None:
        """Take no more calls, and cancel in a while those that still run. The second time the while is over."""
        if self._is_stopping:
            self._cancel_all()
        else:
            self._is_stopping = True
            asyncio.get_running_loop().call_later(self._grace_seconds, self._cancel_all)

    def _cancel_all(self) -> None:
        for cancellation in tuple(self._open):
            cancellation.cancel("the host was stopped")


async def _cancel_when_gone(receive: Receive, cancellation: Cancellation) -> None:
    """Wait for the end of the connection: behind the body nothing else comes."""
    while (await receive())["type"] != "http.disconnect":
        continue
    cancellation.cancel(GONE)
