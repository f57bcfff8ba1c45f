"""The index's composition root: puts the parts, the faces and the pages together into one ASGI app."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, Router

from index.access import Access
from index.distributions import FILES_PREFIX
from index.faces.native.documents import BLOBS_PREFIX, PACKS_PREFIX, BlobRoute, DocumentRoute
from index.faces.native.routes import NativeRoutes
from index.faces.python.challenge import BasicEdge, read_secret
from index.faces.python.legacy import LEGACY_PATHS, LegacyRoute
from index.faces.python.simple import FileRoute, SimpleRoute
from index.pages.routes import PageRoutes, make_pages
from index.parts import Parts, open_parts
from index.screening import load_publishing
from index.settings import parse_settings
from index.simple import SIMPLE_PREFIX
from market.disk.disabled_plugins import load_disabled
from market.disk.home import load_home
from market.web.launch import load_launch
from market.web.pages import send_static
from market.web.problems import ProblemEdge, logs_reads

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_READS = frozenset({"GET", "HEAD"})
_PYTHON_PREFIXES = (SIMPLE_PREFIX, FILES_PREFIX)


def create() -> ASGIApp:
    """Make the app in a server's child process; the factory that `market.web.serve` is given."""
    plugins = load_publishing(disabled=load_disabled(load_home(os.environ).plugins))
    return build_app(open_parts(parse_settings(load_launch().settings), plugins))


def build_app(parts: Parts) -> ASGIApp:
    """Return the app of an index. It closes the parts when the server stops."""
    access, pages = Access(parts), make_pages()
    routes = [
        Route("/healthz", _healthz, methods=["GET"]),
        *NativeRoutes(parts, access).routes(),
        *PageRoutes(parts, access, pages).routes(),
        Mount("/static", send_static),
    ]

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[None]:
        yield
        parts.close()

    documents, blobs = DocumentRoute(parts, access), BlobRoute(parts, access)
    python = Access(parts, read_secret)
    simple, files, legacy = SimpleRoute(parts, python), FileRoute(parts, python), LegacyRoute(parts, python)
    router = Router(routes, redirect_slashes=False, lifespan=lifespan)
    front = _Front(documents, blobs, BasicEdge(_python_face(simple, files, legacy)), router)
    return _Ready({PACKS_PREFIX: documents, SIMPLE_PREFIX: simple}, ProblemEdge(front, pages.error_page))


def _python_face(simple: ASGIApp, files: ASGIApp, legacy: ASGIApp) -> ASGIApp:
    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        route = legacy if path in LEGACY_PATHS else files if path.startswith(FILES_PREFIX) else simple
        await route(scope, receive, send)

    return face


class _Ready:
    """Answers the commonest reads before everything else: a document that is there, asked for by somebody who needs no token.

    Each layer costs a tenth of such an answer. What isn't ready goes the whole way, errors too; these answers aren't logged, as
    successful reads never are, except at the level debug, where all requests go the whole way.
    """

    def __init__(self, routes: Mapping[str, DocumentRoute | SimpleRoute], rest: ASGIApp) -> None:
        self._routes = tuple(routes.items())
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _READS and not logs_reads():
            messages = self._find(scope)
            if messages is not None:
                await send(messages[0])
                await send(messages[1])
                return
        await self._rest(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[Message, Message] | None:
        path = scope["path"]
        for prefix, route in self._routes:
            if path.startswith(prefix):
                try:
                    return route.ready(scope)
                except Exception:
                    # Whatever it is, the whole way meets it again and answers it as an error.
                    return None
        return None


class _Front:
    """Sends the hot kinds of request past the router, whose matching costs more than they do, and pip's to their own face."""

    def __init__(self, documents: ASGIApp, blobs: ASGIApp, python: ASGIApp, rest: ASGIApp) -> None:
        self._documents = documents
        self._blobs = blobs
        self._python = python
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            if path.startswith(PACKS_PREFIX) and scope["method"] in _READS:
                return await self._documents(scope, receive, send)
            if path.startswith(BLOBS_PREFIX) and scope["method"] in _READS:
                return await self._blobs(scope, receive, send)
            if path.startswith(_PYTHON_PREFIXES) or path == "/simple" or path in LEGACY_PATHS:
                return await self._python(scope, receive, send)
        return await self._rest(scope, receive, send)


async def _healthz(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "pid": os.getpid()}, headers={"cache-control": "no-store"})
