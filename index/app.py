"""The index's composition root: puts the parts, the faces and the pages together into one ASGI app."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, Router

from index.access import Access
from index.faces.native.documents import BLOBS_PREFIX, PACKS_PREFIX, BlobRoute, DocumentRoute
from index.faces.native.routes import NativeRoutes
from index.pages.routes import PageRoutes, make_pages
from index.parts import Parts, open_parts
from index.settings import parse_settings
from market.web.launch import load_launch
from market.web.pages import send_static
from market.web.problems import ProblemEdge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

_READS = frozenset({"GET", "HEAD"})


def create() -> ASGIApp:
    """Make the app in a server's child process; the factory that `market.web.serve` is given."""
    return build_app(open_parts(parse_settings(load_launch().settings)))


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
    return ProblemEdge(_Front(DocumentRoute(parts, access), BlobRoute(parts, access), router), pages.error_page)


class _Front:
    """Sends the two hot kinds of request past the router, whose matching costs more than they do."""

    def __init__(self, documents: DocumentRoute, blobs: BlobRoute, rest: ASGIApp) -> None:
        self._documents = documents
        self._blobs = blobs
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in _READS:
            if scope["path"].startswith(PACKS_PREFIX):
                return await self._documents(scope, receive, send)
            if scope["path"].startswith(BLOBS_PREFIX):
                return await self._blobs(scope, receive, send)
        return await self._rest(scope, receive, send)


async def _healthz(_request: Request) -> JSONResponse:
    return JSONResponse({"status": "ok", "pid": os.getpid()}, headers={"cache-control": "no-store"})
