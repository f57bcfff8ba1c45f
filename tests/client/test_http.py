"""One exchange: connections kept, proxies, encodings, and what is said when no answer comes."""

from __future__ import annotations

import gzip
import io
import socket
import threading
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from market.client.http import BadAddress, Cut, HttpFailure, HttpSession, find_proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def raw_server(talk: Callable[[socket.socket, int], None]) -> Iterator[str]:
    """Hand each accepted connection, with its number, to `talk`."""
    listening = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        number = 0
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            number += 1
            with connection:
                talk(connection, number)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/x"
    finally:
        listening.close()


def ask(url: str, session: HttpSession | None = None, method: str = "GET", body: io.BytesIO | None = None) -> bytes:
    with (session or HttpSession("", {})).send(method, url, body=body, headers={}) as answer:
        return b"".join(answer.iter_content(1000))


def answer_once(text: bytes) -> Callable[[socket.socket, int], None]:
    def talk(connection: socket.socket, _: int) -> None:
        connection.recv(65_536)
        connection.sendall(text)

    return talk


def test_a_connection_is_kept_and_opened_again_when_it_was_closed_meanwhile() -> None:
    opened: list[int] = []

    def talk(connection: socket.socket, number: int) -> None:
        opened.append(number)
        for _ in range(2):
            if not connection.recv(65_536):
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with raw_server(talk) as url:
        session = HttpSession("", {})
        assert [ask(url, session) for _ in range(5)] == [b"ok"] * 5
    assert opened == [1, 2, 3]


def test_a_post_is_never_sent_on_a_kept_connection() -> None:
    opened: list[int] = []

    def talk(connection: socket.socket, number: int) -> None:
        opened.append(number)
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        connection.settimeout(0.3)
        try:
            connection.recv(65_536)
        except TimeoutError:
            return

    with raw_server(talk) as url:
        session = HttpSession("", {})
        for _ in range(2):
            ask(url, session, "POST")
    assert opened == [1, 2]


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (b"", Cut),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", Cut),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", Cut),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok", Cut),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n"
            + gzip.compress(b"x" * 99, mtime=0)[:12],
            Cut,
        ),
        (b"SSH-2.0-OpenSSH\r\n", HttpFailure),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n", HttpFailure),
    ],
)
def test_what_is_no_whole_answer_is_a_failure(text: bytes, failure: type[HttpFailure]) -> None:
    with raw_server(answer_once(text)) as url, pytest.raises(failure) as caught:
        ask(url)
    assert str(caught.value)


@pytest.mark.parametrize("name", ["gzip", "deflate", "identity"])
def test_bodies_are_decompressed_piece_by_piece(name: str) -> None:
    body = b"abc" * 1_000_000
    sent = {"gzip": gzip.compress(body), "deflate": zlib.compress(body)}.get(name, body)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Length: {len(sent)}\r\n\r\n".encode()
    with raw_server(answer_once(head + sent)) as url, HttpSession("", {}).send("GET", url, headers={}) as answer:
        pieces = list(answer.iter_content(10_000))
    assert b"".join(pieces) == body and max(map(len, pieces)) <= 10_000


def test_a_refusal_of_an_upload_is_read_though_the_server_hung_up() -> None:
    def talk(connection: socket.socket, _: int) -> None:
        connection.recv(1000)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 20):
            pass

    with raw_server(talk) as url:
        session = HttpSession("", {})
        with session.send(
            "PUT", url, body=io.BytesIO(b"x" * 5_000_000), headers={"Content-Length": "5000000"}
        ) as answer:
            assert (answer.status_code, b"".join(answer.iter_content(10))) == (413, b"big")


@pytest.mark.parametrize(
    "url", ["ftp://x/", "http://", "//x", "http://x:y/", "http://a b/", "http://x/\n", "http://bücher.example/"]
)
def test_what_can_t_be_asked(url: str) -> None:
    with pytest.raises(BadAddress):
        ask(url)


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, "http://index.example/", ""),
        ({"http_proxy": "http://p:1"}, "http://index.example/", "http://p:1"),
        ({"HTTP_PROXY": "p:1"}, "http://index.example/", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}, "http://index.example/", ""),
        ({"http_proxy": "http://p:1"}, "https://index.example/", ""),
        ({"HTTPS_PROXY": "http://p:1"}, "https://index.example/", "http://p:1"),
        ({"ALL_PROXY": "http://p:1"}, "https://index.example/", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "no_proxy": "*"}, "https://index.example/", ""),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "a, .example"}, "https://index.example/", ""),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "example"}, "https://index.example/", ""),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "dex.example"}, "https://index.example/", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "index.example:8443"}, "https://index.example:8443/", ""),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "index.example:8443"}, "https://index.example/", "http://p:1"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http://10.1.2.3/", ""),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "10.0.0.0/8"}, "http://11.1.2.3/", "http://p:1"),
    ],
)
def test_the_environment_s_proxy(environ: dict[str, str], url: str, proxy: str) -> None:
    assert find_proxy(urlsplit(url), environ) == proxy


def test_a_proxy_gets_the_whole_address_and_its_own_secret() -> None:
    asked: list[tuple[str, str, str]] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Host"], self.headers["Proxy-Authorization"]))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def do_CONNECT(self) -> None:
            asked.append((self.path, self.headers["Host"] or "", self.headers["Proxy-Authorization"]))
            self.send_error(403, "not there")

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        session = HttpSession("", {"all_proxy": f"http://me:s%40fe@127.0.0.1:{server.server_port}"})
        assert ask("http://index.example:81/a?b=c", session) == b"ok"
        with pytest.raises(HttpFailure, match="403"):
            ask("https://index.example/a", session)
    finally:
        server.shutdown()
        server.server_close()
    secret = "Basic bWU6c0BmZQ=="
    assert asked[0] == ("http://index.example:81/a?b=c", "index.example:81", secret)
    assert asked[1][0] == "index.example:443" and asked[1][2] == secret


def test_certificates_that_can_t_be_read_are_named() -> None:
    with pytest.raises(HttpFailure, match="/no/such/file"):
        ask("https://127.0.0.1:9/", HttpSession("/no/such/file", {}))
