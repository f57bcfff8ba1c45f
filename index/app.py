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
from index.screening import own_publishing
from index.settings import parse_settings
from index.simple import SIMPLE_PREFIX
from market.disk.disabled_plugins import load_disabled
from market.disk.home import load_home
from market.plugins import load_plugins
from market.web.launch import load_launch
from market.web.pages import send_static
from market.web.problems import ProblemEdge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

_READS = frozenset({"GET", "HEAD"})
_PYTHON_PREFIXES = (SIMPLE_PREFIX, FILES_PREFIX)


def create() -> ASGIApp:
    """Make the app in a server's child process; the factory that `market.web.serve` is given."""
    plugins = load_plugins(own_publishing(), disabled=load_disabled(load_home(os.environ).plugins))
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

    router = Router(routes, redirect_slashes=False, lifespan=lifespan)
    front = _Front(DocumentRoute(parts, access), BlobRoute(parts, access), _python_face(parts), router)
    return ProblemEdge(front, pages.error_page)


def _python_face(parts: Parts) -> ASGIApp:
    access = Access(parts, read_secret)
    simple, files, legacy = SimpleRoute(parts, access), FileRoute(parts, access), LegacyRoute(parts, access)

    async def face(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        route: ASGIApp = legacy if path in LEGACY_PATHS else files if path.startswith(FILES_PREFIX) else simple
        await route(scope, receive, send)

    return BasicEdge(face)


class _Front:
    """Sends the hot kinds of request past the router, whose matching costs more than they do, and pip's to their own face."""

    def __init__(self, documents: DocumentRoute, blobs: BlobRoute, python: ASGIApp, rest: ASGIApp) -> None:
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
