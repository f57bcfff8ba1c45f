"""`/simple/` and `/files/` for pip and uv: raw ASGI, bytes as they were written at the publish. Their form is in `index.simple`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from index.distributions import FILES_PREFIX, METADATA_SUFFIX
from index.faces.python.accept import JSON_TYPE, choose_type
from index.simple import SIMPLE_PREFIX, make_html_list, make_json_list, simple_html_path, simple_json_path
from index.store.listing import list_projects
from market.errors import InvalidInput, NotFound
from market.names import Digest, parse_pack_name
from market.web.documents import Document, document_messages, make_etag, send_document
from market.web.files import ServedFile, send_file
from market.web.problems import WrongMethod
from market.web.references import redirect_to

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from index.access import Access
    from index.parts import Parts

VARY = b"Accept, Authorization"
METADATA_TYPE = b"text/plain; charset=utf-8"
FILE_TYPES = {".whl": b"application/zip", ".gz": b"application/gzip"}

# What is kept of a page under its address, in either form.
_JSON_NAME, _HTML_NAME = (path("").removeprefix(SIMPLE_PREFIX + "/") for path in (simple_json_path, simple_html_path))
_READS = frozenset({"GET", "HEAD"})
_FILE = re.compile(rf"{FILES_PREFIX}([0-9a-f]{{64}})/([^/]+)")


class SimpleRoute:
    """Answers GET and HEAD of the list of projects and of each project's page."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access
        self._cache_control = access.caching.changing
        self._lists: dict[bytes, tuple[int, Document]] = {}

    def ready(self, scope: Scope) -> tuple[Message, Message] | None:
        """Return the answer to a read without a token of a page that is there, or None: then it goes the whole way."""
        page = self._page(scope) if self._access.is_free(scope) else None
        return None if page is None else document_messages(scope, page, vary=VARY)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the page in the form that the client wants, or say where it is."""
        _check_method(scope)
        account = self._access.check_read(scope)
        page = self._page(scope)
        if page is None and scope["path"] == SIMPLE_PREFIX:
            page = await self._list(choose_type(scope["headers"]))
        if page is None:
            place = _find_place(scope["path"])
            await redirect_to(scope, place, 301, self._cache_control)(scope, receive, send)
        else:
            await send_document(scope, send, page, cache_control=self._cache_control, vary=VARY)
        if account is not None:
            await self._access.note_use(account)

    def _page(self, scope: Scope) -> Document | None:
        """Return the page of a project at its one address, in the form that the client wants."""
        path: str = scope["path"]
        media_type = choose_type(scope["headers"])
        name = _JSON_NAME if media_type is JSON_TYPE else _HTML_NAME
        page = self._parts.reader.document(path + name) if path.endswith("/") else None
        return None if page is None else Document(page.body, page.etag, media_type)

    async def _list(self, media_type: bytes) -> Document:
        """Return the list of projects. It is made when asked and kept until something is written: no installer asks for it."""
        stamp = self._parts.reader.stamp()
        kept = self._lists.get(media_type)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        names = await self._parts.lanes.read(list_projects, self._parts.database)
        body = (make_json_list if media_type is JSON_TYPE else make_html_list)(names)
        made = Document(body, make_etag(body), media_type)
        self._lists[media_type] = (stamp, made)
        return made


class FileRoute:
    """Answers GET and HEAD of wheels and sdists under their own names, and of the METADATA beside each wheel."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access
        self._cache_control = access.caching.lasting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file."""
        _check_method(scope)
        self._access.check_read(scope)
        match = _FILE.fullmatch(scope["path"])
        if match is None:
            raise _no_file()
        digest, name = Digest(f"sha256:{match[1]}"), match[2].removesuffix(METADATA_SUFFIX)
        size = self._parts.reader.file_size(digest, name)
        if size is None:
            raise _no_file()
        if name == match[2]:
            kind = FILE_TYPES.get(name[name.rfind(".") :], b"application/octet-stream")
            served = ServedFile(self._parts.blobs.path_of(digest), size, b'"%b"' % match[1].encode(), kind)
            await send_file(scope, send, served, cache_control=self._cache_control)
        else:
            await self._send_metadata(scope, send)

    async def _send_metadata(self, scope: Scope, send: Send) -> None:
        document = self._parts.reader.document(scope["path"])
        if document is None:
            raise _no_file()
        kept = Document(document.body, document.etag, METADATA_TYPE)
        await send_document(scope, send, kept, cache_control=self._cache_control)


def _find_place(path: str) -> str:
    """Return the one address of a project's page for another spelling of it; raises `NotFound` where this is that address already."""
    if path == SIMPLE_PREFIX.removesuffix("/"):
        return SIMPLE_PREFIX
    given = path.removeprefix(SIMPLE_PREFIX).removesuffix("/")
    try:
        place = f"{SIMPLE_PREFIX}{parse_pack_name(given)}/"
    except InvalidInput:
        place = path
    if place == path:
        raise NotFound(
            f"there is no project {given[:80]!r}", hint="archives stand at /v1/packs; `market install` takes both"
        )
    return place


def _check_method(scope: Scope) -> None:
    if scope["method"] not in _READS:
        raise WrongMethod(
            "this address is only read",
            hint="files are uploaded with a POST to /legacy/",
            details={"allow": "GET, HEAD"},
        )


def _no_file() -> NotFound:
    return NotFound("there is no such file", hint="take the file's URL from the project's page")
