"""Everything that the host's faces use, made once in `app.create` and handed to them: no global object."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor as Threads

    from market.host.accounts import Accounts
    from market.host.marketplace import Marketplace
    from market.host.open_calls import OpenCalls
    from market.host.open_changes import OpenChanges
    from market.host.open_work import OpenWork
    from market.host.sessions import Sessions
    from market.host.settings import HostSettings
    from market.registry.registry import Registry
    from market.run.audit import AuditLog
    from market.web.pages import Pages

DISK_THREADS = 4
"""Threads for short work: looking at files, reading the audit log, making long lists."""
CHANGE_THREADS = 2
"""Threads for installs and rescans, which may wait for a slow index. Calls have their own too (`execution_threads`): nobody waits
for another kind of work."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class HostParts:
    """The parts of one running host. `url` is the address under which it was started; `look_again` is what a reload does."""

    settings: HostSettings
    url: str
    registry: Registry
    accounts: Accounts
    sessions: Sessions
    audit: AuditLog
    marketplace: Marketplace
    look_again: Callable[[], None]
    pages: Pages
    work: OpenWork
    calls: OpenCalls
    changes: OpenChanges
    disk: Threads


async def run_in(threads: Threads, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Run blocking work on its own threads; the event loop goes on meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(threads, functools.partial(function, *arguments, **named))
