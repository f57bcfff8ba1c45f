"""Where blocking work runs: one thread for writes, one for searches and pages.

More threads make SQLite slower, not faster: forty of them thirty times (they hand the interpreter's lock over at each row).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


class Lanes:
    """Two queues, each served by one thread at a time."""

    def __init__(self) -> None:
        self._writes = anyio.CapacityLimiter(1)
        self._reads = anyio.CapacityLimiter(1)

    async def write(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a function that writes; a caller who goes away doesn't stop it half-way."""
        return await anyio.to_thread.run_sync(partial(function, *arguments, **options), limiter=self._writes)

    async def read(self, function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run a function that only reads."""
        return await anyio.to_thread.run_sync(partial(function, *arguments, **options), limiter=self._reads)
