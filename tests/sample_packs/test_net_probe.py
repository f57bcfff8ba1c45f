"""The three probes against local servers; nothing leaves this machine."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from market.model import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.sample_packs.conftest import Runner

pytestmark = pytest.mark.flow


class Pages(BaseHTTPRequestHandler):
    """/ greets, /moved redirects, everything else is missing."""

    def do_GET(self) -> None:
        status, headers, body = {
            "/": (200, {"Content-Type": "text/plain"}, b"hello there"),
            "/moved": (302, {"Location": "/"}, b""),
        }.get(self.path, (404, {}, b"no such page"))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - http.server names it so

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture(scope="module")
def web() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def a_listener(answer: bytes = b"") -> Iterator[int]:
    """A TCP server that greets each connection and hangs up; yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def a_closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_http_ok(web: str, run: Runner) -> None:
    result = run("net-probe", "probe_http", url=f"{web}/", contains="hello")
    assert (result["ok"], result["stage"], result["status"], result["bytes_read"]) == (True, "done", 200, 11)
    assert (result["address"], result["headers"]["content-type"]) == ("127.0.0.1", "text/plain")
    assert 0 < result["connect_ms"] <= result["first_byte_ms"] <= result["elapsed_ms"]


def test_http_findings(web: str, run: Runner) -> None:
    missing = run("net-probe", "probe_http", url=f"{web}/nothing")
    assert (missing["ok"], missing["status"], missing["error"]) == (False, 404, "status 404")
    assert run("net-probe", "probe_http", url=f"{web}/nothing", expect_status=404)["ok"] is True
    moved = run("net-probe", "probe_http", url=f"{web}/moved", method="HEAD")
    assert (moved["status"], moved["redirects_to"]) == (302, f"{web}/")
    assert (
        run("net-probe", "probe_http", url=f"{web}/", contains="bye")["error"]
        == "the body does not contain the expected text"
    )


def test_http_stages_of_failure(web: str, run: Runner) -> None:
    refused = run("net-probe", "probe_http", url=f"http://127.0.0.1:{a_closed_port()}/")
    assert (refused["ok"], refused["stage"], refused["error"]) == (False, "connect", "Connection refused")
    no_tls = run("net-probe", "probe_http", url=web.replace("http", "https"))
    assert (no_tls["ok"], no_tls["stage"]) == (False, "tls")
    with a_listener(b"220 mail\r\n") as port:
        odd = run("net-probe", "probe_http", url=f"http://127.0.0.1:{port}/")
    assert (odd["ok"], odd["stage"]) == (False, "request")
    nowhere = run("net-probe", "probe_http", url="http://no-such-host.invalid/", timeout_seconds=2)
    assert nowhere["error"].startswith("the name does not resolve")


def test_tcp_open_with_banner_and_closed(run: Runner) -> None:
    with a_listener(b"SSH-2.0-test\r\n") as port:
        result = run("net-probe", "probe_tcp", host="127.0.0.1", port=port, read_banner=True)
    assert (result["ok"], result["stage"], result["banner"], result["family"]) == (
        True,
        "connected",
        "SSH-2.0-test",
        "ipv4",
    )
    closed = run("net-probe", "probe_tcp", host="127.0.0.1", port=a_closed_port())
    assert (closed["ok"], closed["stage"], closed["error"]) == (False, "connect", "Connection refused")
    assert closed["tried"][0]["address"] == "127.0.0.1"


def a_name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def a_record(kind: int, data: bytes) -> bytes:
    """A record whose name is a pointer to the question's."""
    return b"\xc0\x0c" + struct.pack("!2HIH", kind, 1, 300, len(data)) + data


RECORDS = {
    (b"\x04good\x04test\x00", 1): [a_record(5, a_name("alias.test")), a_record(1, b"\x7f\0\0\1")],
    (b"\x04good\x04test\x00", 28): [a_record(28, b"\0" * 15 + b"\1")],
    (b"\x04good\x04test\x00", 15): [a_record(15, b"\0\x0a" + b"\4mail\xc0\x0c")],
    (b"\x04good\x04test\x00", 16): [a_record(16, b"\2v=\4spf1")],
    (b"\x04good\x04test\x00", 33): [a_record(33, struct.pack("!3H", 1, 2, 443) + a_name("web.test"))],
    (b"\x04good\x04test\x00", 6): [
        a_record(6, a_name("ns.test") + a_name("root.test") + struct.pack("!5I", 1, 2, 3, 4, 5))
    ],
    (b"\x011\x010\x010\x03127\x07in-addr\x04arpa\x00", 12): [a_record(12, a_name("localhost"))],
    (b"\x03big\x04test\x00", 16): [a_record(16, b"\xff" + b"x" * 255)] * 20,
    (b"\x04loop\x04test\x00", 5): [a_record(5, b"\xc0\x27\xc0\x25")],
}


def answer(query: bytes, *, tcp: bool) -> bytes:
    """What a small honest server says; `big` fits into TCP only."""
    question, kind = query[12:-4], struct.unpack("!H", query[-4:-2])[0]
    records = RECORDS.get((question.lower(), kind), [])
    known = any(name == question.lower() for name, _ in RECORDS)
    cut = not tcp and len(b"".join(records)) > 512
    flags = 0x8580 | (0x0200 if cut else 0) | (0 if known else 3)
    head = query[:2] + struct.pack("!5H", flags, 1, 0 if cut else len(records), 0, 0)
    return head + query[12:] + (b"" if cut else b"".join(records))


@contextmanager
def a_dns_server(respond: Callable[[bytes], bytes] = lambda query: answer(query, tcp=False)) -> Iterator[int]:
    """A DNS server on UDP, and on TCP at the same port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        udp.bind(("127.0.0.1", 0))
        port = udp.getsockname()[1]
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind(("127.0.0.1", port))
        tcp.listen()
        threads = [
            threading.Thread(target=serve_udp, args=(udp, respond)),
            threading.Thread(target=serve_tcp, args=(tcp,)),
        ]
        for thread in threads:
            thread.start()
        try:
            yield port
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", ("127.0.0.1", port))
            tcp.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def serve_udp(server: socket.socket, respond: Callable[[bytes], bytes]) -> None:
    while True:
        query, sender = server.recvfrom(512)
        if not query:
            return
        server.sendto(respond(query), sender)


def serve_tcp(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            size = struct.unpack("!H", connection.recv(2))[0]
            reply = answer(connection.recv(size), tcp=True)
            connection.sendall(struct.pack("!H", len(reply)) + reply)


@pytest.fixture(scope="module")
def dns() -> Iterator[int]:
    with a_dns_server() as port:
        yield port


def ask(run: Runner, port: int, name: str = "good.test", kind: str = "A", **args: Any) -> Any:
    return run("net-probe", "probe_dns", name=name, type=kind, server="127.0.0.1", port=port, **args)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("A", ["alias.test", "127.0.0.1"]),
        ("AAAA", ["::1"]),
        ("MX", ["10 mail.good.test"]),
        ("TXT", ["v=spf1"]),
        ("SRV", ["1 2 443 web.test"]),
        ("SOA", ["ns.test root.test 1 2 3 4 5"]),
    ],
)
def test_dns_records(dns: int, run: Runner, kind: str, data: list[str]) -> None:
    result = ask(run, dns, kind=kind)
    assert (result["ok"], result["code"], result["authoritative"], result["transport"]) == (
        True,
        "NOERROR",
        True,
        "udp",
    )
    assert [record["data"] for record in result["answers"]] == data
    assert {record["ttl"] for record in result["answers"]} == {300}
    assert {record["name"] for record in result["answers"]} == {"good.test"}


def test_dns_reverse_of_an_address(dns: int, run: Runner) -> None:
    assert ask(run, dns, "127.0.0.1", "PTR")["answers"][0]["data"] == "localhost"


def test_dns_goes_to_tcp_when_the_answer_was_cut(dns: int, run: Runner) -> None:
    result = ask(run, dns, "big.test", "TXT")
    assert (result["ok"], result["transport"], len(result["answers"])) == (True, "tcp", 20)


def test_dns_names_that_do_not_exist_and_records_that_do_not(dns: int, run: Runner) -> None:
    assert ask(run, dns, "bad.test")["error"] == "NXDOMAIN"
    assert ask(run, dns, "good.test", "NS")["error"] == "the name exists, but has no such record"


def test_dns_answers_that_are_not_answers(dns: int, run: Runner) -> None:
    assert ask(run, dns, "loop.test", "CNAME")["error"] == "the answer is not a DNS message"
    with a_dns_server(lambda query: b"\0\0" + answer(query, tcp=False)[2:]) as port:
        # One in 65,536 questions has the id 0.
        assert ask(run, port)["error"] == "the answer belongs to another question"
    with a_dns_server(lambda query: answer(query, tcp=False).replace(b"good", b"evil")) as port:
        assert ask(run, port)["error"] == "the answer repeats another question than was asked"
    with a_dns_server(lambda query: query[:5]) as port:
        assert ask(run, port)["error"] == "the answer is not a DNS message"


def test_dns_silence_times_out(run: Runner) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        assert ask(run, silent.getsockname()[1], timeout_seconds=0.2)["error"] == "timed out"


@pytest.mark.parametrize(
    ("name", "args", "sentence"),
    [
        ("probe_tcp", {"host": "a b", "port": 1}, "`host` must be a text without spaces"),
        ("probe_tcp", {"host": "a", "port": 0}, "`port` must be a whole number from 1 to 65535"),
        ("probe_http", {"url": "ftp://a"}, "`url` must be an http:// or https:// URL"),
        ("probe_http", {"url": "http://a", "timeout_seconds": 0}, "`timeout_seconds` must be a number above 0"),
        ("probe_http", {"url": "http://a:x/"}, "probe_http: "),
        ("probe_dns", {"name": "a", "type": "ANY"}, "`type` must be one of A, NS"),
        ("probe_dns", {"name": "a..b"}, "is not a domain name"),
        ("probe_dns", {"name": "a", "server": "dns.example"}, "`server` must be an IP address"),
        ("probe_dns", [], "stdin must hold an object"),
    ],
)
def test_bad_arguments_get_a_sentence(run: Runner, name: str, args: Any, sentence: str) -> None:
    outcome = run.outcome("net-probe", name, args)
    assert (outcome.kind, outcome.exit_code) == (OutcomeKind.FAILED, 2)
    assert sentence in outcome.error
    assert "Traceback" not in outcome.error
