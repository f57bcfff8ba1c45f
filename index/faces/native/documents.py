"""`/v1/packs/...` and `/v1/blobs/...` for readers: raw ASGI, because nine of ten requests are these. Bytes come as they were written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from index.store.releases import find_release
from market.client.wire import ARCHIVE_TYPE, pack_path, release_path
from market.errors import InvalidInput, NotFound
from market.names import Digest, PackName, Version, parse_pack_name, parse_version
from market.web.documents import document_messages, send_document
from market.web.files import ServedFile, send_file
from market.web.references import redirect_to

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

    from index.access import Access
    from index.parts import Parts

PACKS_PREFIX = "/v1/packs/"
BLOBS_PREFIX = "/v1/blobs/sha256/"
DOCUMENT_NAME = "index.json"

_HEXADECIMAL = re.compile(r"[0-9a-f]{64}")


class DocumentRoute:
    """Answers GET and HEAD of pack and release documents."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._parts = parts
        self._access = access
        self._cache_control = access.caching.changing

    def ready(self, scope: Scope) -> tuple[Message, Message] | None:
        """Return the answer to a read without a token of a document that is there, or None: then it goes the whole way."""
        if not self._access.is_free(scope):
            return None
        document = self._parts.reader.document(scope["path"])
        return None if document is None else document_messages(scope, document)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the document of this path, or say where it is."""
        account = self._access.check_read(scope)
        document = self._parts.reader.document(scope["path"])
        if document is not None:
            await send_document(scope, send, document, cache_control=self._cache_control)
        else:
            # Links inside a document are relative to its own path, hence a redirect instead of the same bytes under two paths.
            place = await self._find_path(scope["path"])
            await redirect_to(scope, place, 308, self._cache_control)(scope, receive, send)
        if account is not None:
            await self._access.note_use(account)

    async def _find_path(self, path: str) -> str:
        """Return the right path for another spelling of it: `Disk_Cleaner`, `1.0` for `1.0.0`, no `index.json`."""
        asked = path.removeprefix(PACKS_PREFIX).removesuffix("/").removesuffix(DOCUMENT_NAME).removesuffix("/")
        name_text, _, version_text = asked.partition("/")
        name = _parse_or_missing(name_text)
        if not version_text:
            return self._check_there(pack_path(name), path, f"there is no pack {name!r}")
        release = await self._parts.lanes.read(self._find_version, name, _version_or_missing(name, version_text))
        return self._check_there(release_path(name, release), path, f"there is no release {version_text!r} of {name!r}")

    def _check_there(self, wanted: str, asked: str, missing: str) -> str:
        if wanted == asked or self._parts.reader.document(wanted) is None:
            raise NotFound(missing)
        return wanted

    def _find_version(self, name: PackName, version: Version) -> str:
        with self._parts.database.read() as connection:
            standing = find_release(connection, name, version)
        return standing.version if standing else version.text


class BlobRoute:
    """Answers GET and HEAD of archives by their digest: immutable, by range where asked."""

    def __init__(self, parts: Parts, access: Access) -> None:
        self._blobs = parts.blobs
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the file."""
        self._access.check_read(scope)
        hexadecimal = scope["path"].removeprefix(BLOBS_PREFIX)
        digest = Digest(f"sha256:{hexadecimal}")
        size = self._blobs.size_of(digest) if _HEXADECIMAL.fullmatch(hexadecimal) else None
        if size is None:
            raise NotFound("there is no such blob", hint="take the archive's URL from the release's document")
        await send_file(
            scope,
            send,
            ServedFile(self._blobs.path_of(digest), size, f'"{hexadecimal}"'.encode(), ARCHIVE_TYPE.encode()),
            cache_control=self._access.caching.lasting,
        )


def _parse_or_missing(text: str) -> PackName:
    try:
        return parse_pack_name(text)
    except InvalidInput:
        raise NotFound(f"there is no pack {text[:80]!r}") from None


def _version_or_missing(name: PackName, text: str) -> Version:
    try:
        return parse_version(text)
    except InvalidInput as error:
        raise NotFound(f"there is no release {text[:80]!r} of {name!r}", why=error.message, hint=error.hint) from None
