"""A small client that calls an ASGI app in the test's own process: no socket, no thread."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from starlette.types import ASGIApp


@dataclass
class Answer:
    """What the app sent. `path_sent` is the file it handed to the server, whose bytes then stand in `body` too."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    path_sent: str = ""

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def call(
    app: ASGIApp,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes | Sequence[bytes] = b"",
    extensions: Mapping[str, object] | None = None,
    disconnect: bool = False,
) -> Answer:
    """Send one request; several pieces of `body` arrive one by one, and `disconnect` cuts the connection after them."""
    parts, answer = urlsplit(url), Answer()
    pieces = [body] if isinstance(body, bytes) else list(body)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": parts.path, "raw_path": parts.path.encode(), "query_string": parts.query.encode(), "root_path": "",
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in (headers or {}).items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "extensions": dict(extensions or {}), "state": {},
    }

    async def receive() -> MutableMapping[str, Any]:
        if not pieces:
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces) or disconnect}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
        elif message["type"] == "http.response.pathsend":
            answer.path_sent = message["path"]
            with open(message["path"], "rb") as stream:
                answer.body += stream.read()
        else:
            answer.body += message.get("body", b"")

    await app(scope, receive, send)
    return answer


def ask(app: ASGIApp, method: str, url: str, **options: Any) -> Answer:
    """`call` for tests that need one request only."""
    return asyncio.run(call(app, method, url, **options))
