"""A file as an answer: Range, If-Range, 416, ETag, HEAD. The server sends whole files itself where it can (`http.response.pathsend`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.web.documents import IMMUTABLE, VARY, has_etag

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Scope, Send

CHUNK_BYTES = 256 << 10

_RANGE = re.compile(rb"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file that never changes under its ETag (quotes included). `size` in bytes."""

    path: Path
    size: int
    etag: bytes
    media_type: bytes


async def send_file(scope: Scope, send: Send, file: ServedFile, *, cache_control: bytes = IMMUTABLE) -> None:
    """Answer GET or HEAD with the file, with one range of it, or with 304 or 416.

    Several ranges in one request are answered with the whole file, which RFC 9110 14.2 leaves to the server: nobody who installs
    asks for them, and they are a way to make a server work hard.
    """
    headers = [
        (b"etag", file.etag),
        (b"cache-control", cache_control),
        (b"vary", VARY),
        (b"accept-ranges", b"bytes"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if has_etag(scope["headers"], file.etag):
        await _send_empty(send, 304, headers)
        return
    asked = _asked_range(scope, file)
    if asked is None:
        await _send_whole(scope, send, file, headers)
    elif asked[0] >= asked[1]:
        refused = [(b"cache-control", b"no-store"), (b"vary", VARY), (b"content-range", b"bytes */%d" % file.size)]
        await _send_empty(send, 416, [*refused, (b"accept-ranges", b"bytes"), (b"content-length", b"0")])
    else:
        await _send_part(scope, send, file, headers, *asked)


def _asked_range(scope: Scope, file: ServedFile) -> tuple[int, int] | None:
    """Return the asked bytes as [start, end), an empty one where they can't be had, and None where the whole file is asked for."""
    sent = dict(scope["headers"])
    if scope["method"] != "GET" or b"range" not in sent or sent.get(b"if-range", file.etag) != file.etag:
        return None
    match = _RANGE.fullmatch(sent[b"range"].strip())
    if match is None:
        return None
    first, last, suffix = match.groups()
    if suffix is not None:
        return max(0, file.size - int(suffix)), file.size
    start, end = int(first), min(int(last) + 1 if last else file.size, file.size)
    # A range whose end lies before its start is no range at all, and ignored; one that starts behind the end can't be satisfied.
    return None if last and int(last) < start else (start, end)


async def _send_empty(send: Send, status: int, headers: list[tuple[bytes, bytes]]) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _send_whole(scope: Scope, send: Send, file: ServedFile, headers: list[tuple[bytes, bytes]]) -> None:
    headers = [*headers, (b"content-type", file.media_type), (b"content-length", b"%d" % file.size)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    if scope["method"] == "HEAD":
        await send({"type": "http.response.body", "body": b""})
    elif "http.response.pathsend" in scope.get("extensions", {}):
        await send({"type": "http.response.pathsend", "path": str(file.path)})
    else:
        await _send_bytes(send, file, 0, file.size)


async def _send_part(
    scope: Scope, send: Send, file: ServedFile, headers: list[tuple[bytes, bytes]], start: int, end: int
) -> None:
    headers = [
        *headers,
        (b"content-type", file.media_type),
        (b"content-range", b"bytes %d-%d/%d" % (start, end - 1, file.size)),
        (b"content-length", b"%d" % (end - start)),
    ]
    await send({"type": "http.response.start", "status": 206, "headers": headers})
    await _send_bytes(send, file, start, end)


async def _send_bytes(send: Send, file: ServedFile, start: int, end: int) -> None:
    # Reading inline is deliberate: the bytes come from the page cache, and a thread would cost more than the read.
    with file.path.open("rb") as stream:
        stream.seek(start)
        while start < end:
            chunk = stream.read(min(CHUNK_BYTES, end - start))
            if not chunk:
                raise OSError(f"{file.path} is shorter than its {file.size} bytes")
            start += len(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
