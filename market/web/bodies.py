"""A request's body, streamed to a temporary file and hashed on the way, never longer than a named limit."""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from market.errors import InvalidInput, Unavailable
from market.names import Digest
from market.web.problems import BodyTooLarge

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from starlette.types import Receive, Scope

MAX_SMALL_BODY_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Body:
    """A received body: an open file of our own, its path, size in bytes and digest."""

    stream: IO[bytes]
    path: Path
    size: int
    digest: Digest


class _Disconnected(InvalidInput):
    """The caller went away in the middle; nobody reads this answer."""


@asynccontextmanager
async def receive_body(scope: Scope, receive: Receive, folder: Path, *, limit_bytes: int) -> AsyncIterator[Body]:
    """Stream the request's body into a temporary file in `folder`, which is gone when the context ends.

    Raises `BodyTooLarge` before reading where Content-Length already says so, and as soon as the limit is passed otherwise.
    """
    check_length(scope, limit_bytes)
    with open_upload(folder) as (stream, path):
        yield await _receive_into(stream, path, receive, limit_bytes)


@contextmanager
def open_upload(folder: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """Yield a temporary file in `folder` and its path; what still stands there when the context ends is deleted."""
    with storage_failures():
        stream = tempfile.NamedTemporaryFile(dir=folder, prefix="upload-", delete=False)  # noqa: SIM115 - closed below
    path = folder / stream.name
    try:
        with stream:
            yield stream, path
    finally:
        path.unlink(missing_ok=True)


async def receive_bytes(scope: Scope, receive: Receive, *, limit_bytes: int = MAX_SMALL_BODY_BYTES) -> bytes:
    """Return the request's whole body, for small ones; raises `BodyTooLarge` past the limit."""
    check_length(scope, limit_bytes)
    pieces, size = [], 0
    async for piece in receive_pieces(receive):
        size += len(piece)
        check_size(size, limit_bytes)
        pieces.append(piece)
    return b"".join(pieces)


async def _receive_into(stream: IO[bytes], path: Path, receive: Receive, limit_bytes: int) -> Body:
    digest, size = hashlib.sha256(), 0
    async for piece in receive_pieces(receive):
        size += len(piece)
        check_size(size, limit_bytes)
        digest.update(piece)
        with storage_failures():
            stream.write(piece)
    with storage_failures():
        stream.flush()
    return Body(stream, path, size, Digest(f"sha256:{digest.hexdigest()}"))


async def receive_pieces(receive: Receive) -> AsyncIterator[bytes]:
    """Yield a request's body as it comes; raises where the caller goes away in the middle."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Disconnected("the connection ended before the body did")
        yield message.get("body", b"")
        more = message.get("more_body", False)


@contextmanager
def storage_failures() -> Iterator[None]:
    """Turn the file system's errors while serving into `Unavailable`: they aren't the caller's fault, nor the paths theirs to see."""
    try:
        yield
    except OSError as error:
        hint = "try again; if it stays, the server's operator has to look at its disk"
        raise Unavailable("the server can't store what was sent", why=error.strerror or "", hint=hint) from error


def check_length(scope: Scope, limit_bytes: int) -> None:
    """Raise `BodyTooLarge` where Content-Length announces more than the limit."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            check_size(int(value), limit_bytes)


def check_size(size: int, limit_bytes: int) -> None:
    """Raise `BodyTooLarge` past the limit."""
    if size > limit_bytes:
        raise BodyTooLarge(
            "the request's body is too large",
            why=f"the limit is {limit_bytes} bytes",
            hint="leave out what the pack doesn't need",
            details={"limit_bytes": limit_bytes},
        )
