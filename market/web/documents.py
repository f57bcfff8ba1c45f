"""Ready-made bytes as an answer: strong ETag, 304, HEAD, and the caching headers. Where the bytes come from isn't known here."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.client.wire import DOCUMENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Message, Scope, Send

NO_CACHE = b"no-cache"
IMMUTABLE = b"public, max-age=31536000, immutable"
VARY = b"Authorization"

_EMPTY: dict[str, object] = {"type": "http.response.body", "body": b""}


@dataclass(frozen=True, slots=True)
class Caching:
    """Who may keep an answer: Cache-Control of what changes and of what never does."""

    changing: bytes
    lasting: bytes


# `public` would allow a cache that many share to keep even the answer to a request with a token (RFC 9111 3.5).
SHARED = Caching(NO_CACHE, IMMUTABLE)
PRIVATE = Caching(b"private, no-cache", b"private, max-age=31536000, immutable")


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes with their strong ETag (quotes included) and media type."""

    body: bytes
    etag: bytes
    media_type: bytes = DOCUMENT_TYPE.encode()


def make_etag(body: bytes) -> bytes:
    """Return the strong ETag of bytes, with its quotes: equal exactly when the bytes are.

    >>> make_etag(b"{}")
    b'"44136fa355b3678a1146ad16f7e8649e"'
    """
    return b'"%b"' % hashlib.sha256(body).hexdigest()[:32].encode()


async def send_document(
    scope: Scope, send: Send, document: Document, *, cache_control: bytes = NO_CACHE, vary: bytes = VARY
) -> None:
    """Answer GET or HEAD with a document, or 304 where the caller has it already."""
    for message in document_messages(scope, document, cache_control=cache_control, vary=vary):
        await send(message)


def document_messages(
    scope: Scope, document: Document, *, cache_control: bytes = NO_CACHE, vary: bytes = VARY
) -> tuple[Message, Message]:
    """Return that answer as the two messages of ASGI, for routes that are so hot that each await counts."""
    headers = [
        (b"etag", document.etag),
        (b"cache-control", cache_control),
        (b"vary", vary),
        (b"x-content-type-options", b"nosniff"),
    ]
    if has_etag(scope["headers"], document.etag):
        return {"type": "http.response.start", "status": 304, "headers": headers}, _EMPTY
    headers += [(b"content-type", document.media_type), (b"content-length", b"%d" % len(document.body))]
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    return start, _EMPTY if scope["method"] == "HEAD" else {"type": "http.response.body", "body": document.body}


def has_etag(headers: Iterable[tuple[bytes, bytes]], etag: bytes) -> bool:
    """Answer whether If-None-Match names this ETag. The comparison is the weak one, as RFC 9110 13.1.2 asks for."""
    for name, value in headers:
        if name == b"if-none-match":
            return (
                value == etag
                or value.strip() == b"*"
                or any(part.strip().removeprefix(b"W/") == etag for part in value.split(b","))
            )
    return False
