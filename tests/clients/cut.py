"""A connection that breaks: a proxy that cuts its first long answer in the middle, and passes everything else."""

from __future__ import annotations

import contextlib
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_BYTES = 16 << 10


@dataclass
class Cut:
    """Where the proxy listens, the requests that it saw, and after how many bytes of an answer it cuts once."""

    url: str
    after_bytes: int
    requests: list[str] = field(default_factory=list)
    is_cut: bool = False


@contextmanager
def cutting(target: str, after_bytes: int) -> Iterator[Cut]:
    """Serve a proxy to a server of this machine."""
    parts = urlsplit(target)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        cut = Cut(f"http://127.0.0.1:{listener.getsockname()[1]}", after_bytes)
        threading.Thread(target=_accept, args=(listener, (parts.hostname, parts.port), cut), daemon=True).start()
        yield cut
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, target: tuple[str, int], cut: Cut) -> None:
    with contextlib.suppress(OSError):
        while True:
            client = listener.accept()[0]
            server = socket.create_connection(target)
            threading.Thread(target=_send_requests, args=(client, server, cut), daemon=True).start()
            threading.Thread(target=_send_answers, args=(server, client, cut), daemon=True).start()


def _send_requests(client: socket.socket, server: socket.socket, cut: Cut) -> None:
    with contextlib.suppress(OSError):
        while chunk := client.recv(CHUNK_BYTES):
            cut.requests.append(chunk.decode("latin-1"))
            server.sendall(chunk)
    server.close()


def _send_answers(server: socket.socket, client: socket.socket, cut: Cut) -> None:
    sent = 0
    with contextlib.suppress(OSError):
        while chunk := server.recv(CHUNK_BYTES):
            sent += len(chunk)
            client.sendall(chunk)
            if sent > cut.after_bytes and not cut.is_cut:
                cut.is_cut = True
                break
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_RDWR)
    client.close()
    server.close()
