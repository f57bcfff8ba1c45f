"""The pages: browse and search, a pack, a release. They show what the documents say, and read nothing that the API doesn't."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from starlette.routing import Route

from index.browse import list_packs, search_packs
from index.pages.guides import GuideTexts
from index.pages.show import show_release, show_time
from index.settings import MAX_QUERY_CHARACTERS
from index.simple import SIMPLE_PREFIX
from market.client.wire import PackDocument, ReleaseDocument, pack_path, parse_document, release_path
from market.errors import InvalidInput, NotFound
from market.names import parse_pack_name
from market.web.documents import PRIVATE
from market.web.pages import Pages
from market.web.references import redirect_to, root_reference

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from index.access import Access
    from index.parts import Parts


T = TypeVar("T")

PAGE_ITEMS = 30


def make_pages() -> Pages:
    """Return the environment of the index's pages."""
    return Pages(Path(__file__).parent / "templates", filters={"when": show_time})


class PageRoutes:
    """The endpoints, bound to one index."""

    def __init__(self, parts: Parts, access: Access, pages: Pages) -> None:
        self._parts = parts
        self._access = access
        self._pages = pages
        self._guides = GuideTexts(parts.blobs)

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        return [
            Route("/", self.browse, methods=["GET"]),
            Route("/packs/{name}", self.pack, methods=["GET"]),
            Route("/packs/{name}/{version}", self.release, methods=["GET"]),
        ]

    async def browse(self, request: Request) -> Response:
        """The start page: a search field and the packs; to htmx only the list, which it swaps in while one types."""
        self._access.check_read(request.scope)
        query, cursor = (
            request.query_params.get("q", "").strip()[:MAX_QUERY_CHARACTERS],
            request.query_params.get("cursor", ""),
        )
        parts = self._parts
        if query:
            listing = await parts.lanes.read(search_packs, parts.database, query, PAGE_ITEMS, cursor)
        else:
            listing = await parts.lanes.read(list_packs, parts.database, PAGE_ITEMS, cursor)
        template = (
            "list.html"
            if "hx-request" in request.headers and "hx-history-restore-request" not in request.headers
            else "browse.html"
        )
        return self._pages.render(
            template, root=root_reference(request.scope), query=query, listing=listing, is_first=not cursor
        )

    async def pack(self, request: Request) -> Response:
        """A pack, by its newest installable release."""
        self._access.check_read(request.scope)
        name = _parse_name(request)
        document = self._document(PackDocument, pack_path(name), f"there is no pack {name!r}")
        if name != request.path_params["name"]:
            return redirect_to(request.scope, f"/packs/{name}", 308, PRIVATE.changing)
        version = document.latest or document.releases[0].version
        return await self._show(request, document, version, is_pinned=False)

    async def release(self, request: Request) -> Response:
        """One release of a pack."""
        self._access.check_read(request.scope)
        name, version = _parse_name(request), request.path_params["version"]
        document = self._document(PackDocument, pack_path(name), f"there is no pack {name!r}")
        return await self._show(request, document, version, is_pinned=True)

    async def _show(self, request: Request, pack: PackDocument, version: str, *, is_pinned: bool) -> Response:
        missing = f"there is no release {version[:80]!r} of {pack.name!r}"
        release = self._document(ReleaseDocument, release_path(pack.name, version), missing)
        texts = await self._parts.lanes.read(self._guides.of, release)
        simple_url = str(request.url.replace(path=SIMPLE_PREFIX, query="", fragment=""))
        shown = show_release(pack, release, texts, is_pinned=is_pinned, simple_url=simple_url)
        return self._pages.render("release.html", root=root_reference(request.scope), shown=shown)

    def _document(self, shape: type[T], path: str, missing: str) -> T:
        document = self._parts.reader.document(path)
        if document is None:
            raise NotFound(missing, hint="look for it on the start page")
        return parse_document(shape, msgspec.json.decode(document.body))


def _parse_name(request: Request) -> str:
    text = request.path_params["name"]
    try:
        return parse_pack_name(text)
    except InvalidInput:
        raise NotFound(f"there is no pack {text[:80]!r}", hint="look for it on the start page") from None
