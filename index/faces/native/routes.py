"""The rest of `/v1`: lists, search, who am I, publish. Each route parses, asks the domain and dumps; no rule is here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response
from starlette.routing import Route

from index.browse import Listing, list_packs, parse_limit, search_packs
from index.claims import Claims
from index.distributions import SentFile, accept_file
from index.publish import Upload, accept
from index.settings import MAX_QUERY_CHARACTERS
from index.yank import unyank, yank
from market.client.wire import DOCUMENT_TYPE, PackList, WhoAmI, packs_path, search_path, whoami_path
from market.errors import InvalidInput, Unauthenticated
from market.names import parse_pack_name, parse_version
from market.pack.secrets import parse_places
from market.pack.zip_format import MAX_ARCHIVE_BYTES
from market.web.bodies import receive_body, receive_bytes
from market.web.documents import PRIVATE, VARY
from market.web.references import asked_path, relative_reference

if TYPE_CHECKING:
    from starlette.requests import Request

    from index.access import Access
    from index.commit import Deed
    from index.parts import Parts
    from market.client.wire import Published
    from market.names import PackName, Version
    from market.pack.secrets import Place


class NativeRoutes:
    """The endpoints, bound to one index."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access

    def routes(self) -> list[Route]:
        """Return the routes of this face but for the documents and blobs."""
        return [
            Route(packs_path(), self.list, methods=["GET"]),
            Route(search_path(), self.search, methods=["GET"]),
            Route(whoami_path(), self.whoami, methods=["GET"]),
            Route("/v1/packs/{name}/{version}", self.publish, methods=["PUT"]),
            Route("/v1/packs/{name}/{version}/yank", self.yank, methods=["POST"]),
            Route("/v1/packs/{name}/{version}/yank", self.unyank, methods=["DELETE"]),
            Route("/v1/packs/{name}/{version}/{filename}", self.publish_file, methods=["PUT"]),
        ]

    async def list(self, request: Request) -> Response:
        """All packs, the last published first."""
        self._access.check_read(request.scope)
        limit = parse_limit(request.query_params.get("limit"))
        listing = await self._parts.lanes.read(
            list_packs, self._parts.database, limit, request.query_params.get("cursor", "")
        )
        return _answer(_dump_listing(listing, "packs", {"limit": str(limit)}))

    async def search(self, request: Request) -> Response:
        """The packs that match `q`, best first."""
        self._access.check_read(request.scope)
        limit, query = parse_limit(request.query_params.get("limit")), request.query_params.get("q", "")
        if len(query) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(
                f"the query is longer than {MAX_QUERY_CHARACTERS} characters", hint="search for fewer words"
            )
        listing = await self._parts.lanes.read(
            search_packs, self._parts.database, query, limit, request.query_params.get("cursor", "")
        )
        return _answer(_dump_listing(listing, "search", {"q": query, "limit": str(limit)}))

    async def whoami(self, request: Request) -> Response:
        """Whose token was sent."""
        account = self._access.identify(request.scope)
        if account is None:
            raise Unauthenticated("no token was sent", hint="log in with `market login`")
        await self._access.note_use(account)
        return _answer(WhoAmI(account.publisher, tuple(sorted(account.scopes)), account.prefix, account.expires_at))

    async def publish(self, request: Request) -> Response:
        """A release: the body is the archive, name and version stand in the path."""
        account = self._access.check_publish(request.scope)
        name, version = parse_pack_name(request.path_params["name"]), parse_version(request.path_params["version"])
        parts = self._parts
        async with receive_body(
            request.scope, request.receive, parts.blobs.incoming, limit_bytes=MAX_ARCHIVE_BYTES
        ) as body:
            upload = Upload(name, version, body.stream, body.path, body.size)
            deed = parts.deed(account, _allowed_secrets(request))
            published = await parts.lanes.write(accept, parts.database, parts.blobs, upload, deed)
        return _answer_published(request, published)

    async def publish_file(self, request: Request) -> Response:
        """A wheel or an sdist of a release: the body is the file; its name, the pack's and the version stand in the path."""
        account = self._access.check_publish(request.scope)
        name, version, filename = (request.path_params[key] for key in ("name", "version", "filename"))
        parts = self._parts
        async with receive_body(
            request.scope, request.receive, parts.blobs.incoming, limit_bytes=MAX_ARCHIVE_BYTES
        ) as body:
            sent = SentFile(filename, body.stream, body.path, body.size, body.digest)
            claims = Claims({"name": (name,), "version": (version,)})
            deed = parts.deed(account, _allowed_secrets(request))
            published = await parts.lanes.write(accept_file, parts.database, parts.blobs, sent, claims, deed)
        return _answer_published(request, published)

    async def yank(self, request: Request) -> Response:
        """Nobody who doesn't name this version shall get it from now on; the body is `{"reason": "..."}` or empty."""
        name, version, deed = self._change(request)
        reason = _parse_reason(await receive_bytes(request.scope, request.receive))
        return _answer(await self._parts.lanes.write(yank, self._parts.database, name, version, reason, deed))

    async def unyank(self, request: Request) -> Response:
        """The release may be chosen again."""
        name, version, deed = self._change(request)
        return _answer(await self._parts.lanes.write(unyank, self._parts.database, name, version, deed))

    def _change(self, request: Request) -> tuple[PackName, Version, Deed]:
        account = self._access.check_publish(request.scope)
        name, version = parse_pack_name(request.path_params["name"]), parse_version(request.path_params["version"])
        return name, version, self._parts.deed(account)


def _parse_reason(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Reason).reason if body else ""
    except msgspec.MsgspecError as error:
        raise InvalidInput(
            "the body can't be read", why=str(error), hint='send {"reason": "why"}, or nothing'
        ) from None


class _Reason(msgspec.Struct):
    reason: str = ""


def _dump_listing(listing: Listing, address: str, query: dict[str, str]) -> PackList:
    # Relative to this list, so that it stays right behind a proxy's prefix.
    following = f"{address}?{urlencode({**query, 'cursor': listing.cursor})}" if listing.cursor else ""
    return PackList(listing.items, listing.total, following, listing.packs, listing.near)


def _allowed_secrets(request: Request) -> frozenset[Place]:
    return parse_places(request.query_params.getlist("allow_secret"))


def _answer(value: object, status: int = 200) -> Response:
    # Made for the one who asks, unlike a document: it has no ETag, so that a cache would gain nothing by keeping it.
    headers = {"cache-control": PRIVATE.changing.decode(), "vary": VARY.decode()}
    return Response(msgspec.json.encode(value), status, headers, DOCUMENT_TYPE)


def _answer_published(request: Request, published: Published) -> Response:
    told = replace(published, url=relative_reference(asked_path(request.scope), published.url))
    return _answer(told, 201 if published.created else 200)
