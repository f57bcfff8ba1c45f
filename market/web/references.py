"""Addresses on this server as seen from a page of it: relative, so that they stay right behind a proxy's path prefix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from market.web.documents import NO_CACHE

if TYPE_CHECKING:
    from starlette.types import Scope

_OPENING = "./"


def relative_reference(base: str, target: str) -> str:
    """Return what leads from the page at `base` to `target`, both paths as they stand in a URL.

    >>> relative_reference("/simple/Tool_A/", "/simple/tool-a/")
    '../tool-a/'
    >>> relative_reference("/simple", "/simple/")
    './simple/'
    >>> relative_reference("/", "/")
    './'
    """
    *folders, _ = base.split("/")
    *wanted, name = target.split("/")
    shared = 0
    while shared < min(len(folders), len(wanted)) and folders[shared] == wanted[shared]:
        shared += 1
    # `./` in front: a colon in the first segment would otherwise be read as the end of a scheme.
    return ("../" * (len(folders) - shared) or _OPENING) + "/".join([*wanted[shared:], name])


def root_reference(scope: Scope) -> str:
    """Return what leads from the page that was asked for to the server's start page; it ends with a slash."""
    return relative_reference(asked_path(scope), "/")


def asked_path(scope: Scope) -> str:
    """Return a request's path as the client wrote it: a decoded `%2F` would count as a folder that the client doesn't see."""
    raw: bytes = scope.get("raw_path") or b""
    return raw.partition(b"?")[0].decode("latin-1") or scope["path"]


def redirect_to(scope: Scope, target: str, status: int, cache_control: bytes = NO_CACHE) -> Response:
    """Return the answer that sends a client to another path of this server. It is asked for again each time: names come and go."""
    headers = {"location": relative_reference(asked_path(scope), target), "cache-control": cache_control.decode()}
    return Response(b"", status, {**headers, "vary": "Authorization"})
