"""A real HTTP server on a free loopback port, which answers what a test wants and notes what it was asked."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def authorization(self) -> str:
        return self.headers.get("Authorization", "")


@dataclass(frozen=True)
class Answer:
    """One answer. `cut` closes the connection without one."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass
class Server:
    """A running server: its URL and what it was asked."""

    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def serve(
    answer: Callable[[Asked], Answer], host: str = "127.0.0.1", *, tls: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """Serve until the block ends, over TLS where its context is given."""
    server: Server

    class _Answering(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            asked = Asked(self.command, self.path, dict(self.headers), self.rfile.read(size))
            server.asked.append(asked)
            given = answer(asked)
            if given.cut:
                self.close_connection = True
                return
            self.send_response(given.status)
            for name, value in {"Content-Length": str(len(given.body)), **given.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(given.body)

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer((host, 0), _Answering)
    http.daemon_threads = True
    if tls is not None:
        http.socket = tls.wrap_socket(http.socket, server_side=True, do_handshake_on_connect=False)
        http.handle_error = lambda *_: None  # type: ignore[method-assign] # a client that doesn't trust us hangs up
    server = Server(f"{'https' if tls else 'http'}://{host}:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
