"""Which form of a page a client wants (PEP 691): JSON, HTML, or HTML under its old name. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

JSON_TYPE = b"application/vnd.pypi.simple.v1+json"
HTML_TYPE = b"application/vnd.pypi.simple.v1+html"
TEXT_HTML_TYPE = b"text/html; charset=utf-8"
MAX_ACCEPT_BYTES = 1_024
KEPT_HEADERS = 256

# RFC 9110 12.4.2; Python's own reading of numbers would take `nan` and `inf` too.
_QUALITY = re.compile(rb"0(\.\d{0,3})?|1(\.0{0,3})?")

# Best first: what a client rates equally is answered in JSON.
_OFFERED = {
    b"application/vnd.pypi.simple.v1+json": JSON_TYPE,
    b"application/vnd.pypi.simple.latest+json": JSON_TYPE,
    b"application/vnd.pypi.simple.v1+html": HTML_TYPE,
    b"application/vnd.pypi.simple.latest+html": HTML_TYPE,
    b"text/html": TEXT_HTML_TYPE,
}


def choose_type(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return the media type to answer in. Whoever asks for nothing that we have gets HTML, which every client has always read."""
    sent = [value for name, value in headers if name == b"accept"]
    # A header that comes several times is one list (RFC 9110 5.3).
    return _choose((sent[0] if len(sent) == 1 else b",".join(sent))[:MAX_ACCEPT_BYTES]) if sent else TEXT_HTML_TYPE


@lru_cache(KEPT_HEADERS)
def _choose(accept: bytes) -> bytes:
    """Return the best type for an Accept header.

    >>> _choose(b"application/vnd.pypi.simple.v1+json, text/html; q=0.01").decode()
    'application/vnd.pypi.simple.v1+json'
    """
    ratings: dict[bytes, float] = {}
    for item in accept.lower().split(b","):
        kind, *parameters = [part.strip() for part in item.split(b";")]
        ratings.setdefault(kind, _quality(parameters))
    # Who would take anything gets HTML, and in JSON only what asks for it by name.
    anything = max(ratings.get(kind, 0.0) for kind in (b"text/*", b"*/*"))
    ratings.setdefault(b"text/html", anything)
    best = max(_OFFERED, key=lambda kind: ratings.get(kind, 0.0))
    return _OFFERED[best] if ratings.get(best, 0.0) > 0 else TEXT_HTML_TYPE


def _quality(parameters: list[bytes]) -> float:
    for parameter in parameters:
        if parameter.startswith(b"q="):
            return float(parameter[2:]) if _QUALITY.fullmatch(parameter[2:]) else 0.0
    return 1.0
