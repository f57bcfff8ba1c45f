"""The host's composition root: makes the parts of one host and the ASGI app over them. Exactly one process runs it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import Mount, Route, Router

from market.client.transport import RequestsTransport
from market.disk.disabled_plugins import load_disabled
from market.disk.home import Home
from market.host.accounts import Accounts
from market.host.audit_api import audit_routes
from market.host.bodies import json_response
from market.host.marketplace import Marketplace
from market.host.marketplace_api import marketplace_routes
from market.host.open_calls import OpenCalls
from market.host.open_changes import ChangeThreads, OpenChanges
from market.host.open_work import OpenWork
from market.host.pages import page_routes
from market.host.parts import CHANGE_THREADS, DISK_THREADS, HostParts
from market.host.prompt_api import prompt_routes
from market.host.reload import registered_text
from market.host.sessions import Sessions, monotonic_seconds
from market.host.settings import parse_settings
from market.host.skills_api import skill_routes
from market.installer.guard import own_installing
from market.news_log import own_news
from market.plugins.loaded import load_plugins
from market.registry.environment import EnvironmentPacks
from market.registry.first_load import load_and_watch
from market.registry.links import LinkedFolders
from market.registry.loader import Loader
from market.registry.log_lines import PREFIX
from market.registry.registry import Registry
from market.registry.watch import Watch
from market.run.audit import AuditLog
from market.run.invoke import Invoker
from market.run.limits import RELOOK_SECONDS
from market.run.own import own_running
from market.run.pool import SupervisorPool
from market.run.workers import follow_registry
from market.version import __version__
from market.web.launch import STOP_SIGNAL, load_launch
from market.web.pages import Pages, send_static
from market.web.problems import ProblemEdge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from market.host.settings import HostSettings
    from market.run.workers import Workers

WATCH_SETUP_SECONDS = 5.0
TEMPLATES = Path(__file__).parent / "templates"

_log = logging.getLogger("market.host")


def create() -> ASGIApp:
    """Make the app of this process from the launch that the command line left."""
    launch = load_launch()
    # It counts every change at the level INFO; what matters of them is in the registry's own lines.
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    return create_app(parse_settings(launch.settings), launch.url)


def create_app(settings: HostSettings, url: str) -> ASGIApp:
    """Make the app of one host; it loads and watches its roots while its lifespan lasts."""
    home = Home(Path(settings.home))
    environment = EnvironmentPacks(Loader(settings.integrity, link_targets=settings.link_targets).load)
    linked = LinkedFolders(settings.roots, settings.link_targets)
    registry = Registry(settings.roots, environment.load, lambda: (*linked.find(), *environment.find()))
    audit = AuditLog(home.audit)
    pool = SupervisorPool(settings.execution_threads, memory_bytes=settings.call_memory_bytes)
    workers = follow_registry(
        registry,
        processes=settings.worker_processes,
        idle_seconds=settings.worker_idle_seconds,
        memory_bytes=settings.call_memory_bytes,
    )
    own = {**own_running(pool, workers), **own_installing(), **own_news()}
    plugins = load_plugins(own, disabled=load_disabled(home.plugins))
    executors = plugins.register_executors(os.environ)
    accounts, sessions = Accounts(home.host_tokens), Sessions(monotonic_seconds)
    sessions.offer_login(accounts.ensure_admin(home.host_admin_token), settings.login_hash)
    invoker = Invoker(
        registry.find_current,
        executors,
        audit,
        refresh=registry.refresh_skill,
        decide=plugins.decide_run,
        tell=plugins.skill_ran,
    )
    call_threads = ThreadPoolExecutor(settings.execution_threads, thread_name_prefix="call")
    work = OpenWork(settings.stop_grace_seconds)
    parts = HostParts(
        settings=settings,
        url=url,
        registry=registry,
        accounts=accounts,
        sessions=sessions,
        audit=audit,
        marketplace=Marketplace(home, registry, audit, RequestsTransport(), os.environ, plugins),
        look_again=functools.partial(_look_again, registry, workers),
        pages=Pages(TEMPLATES),
        work=work,
        calls=OpenCalls(invoker, call_threads, work),
        changes=OpenChanges(ChangeThreads(CHANGE_THREADS), work),
        disk=ThreadPoolExecutor(DISK_THREADS, thread_name_prefix="disk"),
    )
    return ProblemEdge(_routed(parts, pool, workers, call_threads), parts.pages.error_page)


def _look_again(registry: Registry, workers: Workers) -> None:
    """Read what changed in the roots and the environment, and give code that didn't work another try."""
    workers.forget()
    registry.rescan()
    registry.wait_until_settled(RELOOK_SECONDS)


def _routed(parts: HostParts, pool: SupervisorPool, workers: Workers, call_threads: ThreadPoolExecutor) -> Router:
    @contextlib.asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        watch = Watch(parts.registry, parts.settings.rescan_seconds)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(STOP_SIGNAL, parts.work.stop)
        await loop.run_in_executor(None, _start, parts, watch, pool)
        yield
        watch.stop()
        pool.close()
        workers.close()
        for threads in (call_threads, parts.disk):
            threads.shutdown(wait=True, cancel_futures=True)
        parts.audit.close()

    routes = [
        Route("/healthz", _healthz(parts)),
        # The files' route is longer than a skill's, and comes first.
        *prompt_routes(parts),
        *skill_routes(parts),
        *marketplace_routes(parts),
        *audit_routes(parts),
        *page_routes(parts),
        Mount("/static", send_static),
    ]
    return Router(routes, lifespan=lifespan)


def _start(parts: HostParts, watch: Watch, pool: SupervisorPool) -> None:
    """Load the roots and start watching them. A root that takes too long goes on loading beside the running host."""
    for entry in parts.settings.skipped_roots:
        _log.warning("%sskip %s", PREFIX, entry)
    pool.warm()
    loading = threading.Thread(target=_load_and_watch, args=(parts, watch), name="registry-load", daemon=True)
    loading.start()
    loading.join(parts.settings.load_grace_seconds)
    if loading.is_alive():
        _log.warning(
            "the roots are still being read after %s s; skills appear as they are found",
            parts.settings.load_grace_seconds,
        )


def _load_and_watch(parts: HostParts, watch: Watch) -> None:
    count, roots = load_and_watch(parts.registry, watch), len(parts.registry.roots)
    if count is not None:
        _log.info("%s from %d root%s", registered_text(count), roots, "" if roots == 1 else "s")
    watch.wait_until_watching(WATCH_SETUP_SECONDS)


def _healthz(parts: HostParts) -> Callable[[Request], Awaitable[Response]]:
    async def healthz(_: Request) -> Response:
        return json_response(
            {"status": "ok", "pid": os.getpid(), "skills": len(parts.registry.snapshot.skills), "version": __version__}
        )

    return healthz
