"""One HTTP exchange over the standard library: connections kept open, proxies of the environment, certificates, streamed bodies.

Loading requests took a quarter of a small install, and what it does beyond this isn't used (docs/decisions/0054). Retries, redirects
and what an answer means are in `transport.py`, which alone calls this.
"""

from __future__ import annotations

import http.client
import ipaddress
import ssl
import zlib
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from market.client import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from urllib.parse import SplitResult

_ENCODINGS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


class HttpFailure(Exception):
    """No answer came: refused, unknown name, silence, a bad certificate. The text is for people."""


class BadAddress(HttpFailure):
    """The URL can't be asked at all."""


class Cut(HttpFailure):
    """A connection that stood was cut short; trying again may help."""


class Answer:
    """An answer with its body unread. Closing it keeps the connection for the next request if the body was read to its end."""

    def __init__(self, connection: http.client.HTTPConnection, key: str, kept: _Kept) -> None:
        self._response = connection.getresponse()
        self.status_code = self._response.status
        # A mail message looks names up whatever their case, which is all that is asked of it.
        self.headers = cast("Mapping[str, str]", self._response.headers)
        self._connection, self._key, self._kept = connection, key, kept

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def iter_content(self, size: int) -> Iterator[bytes]:
        """Yield the body, decompressed, in pieces of about `size` bytes. Raises `Cut` where it ends too early."""
        decoder = _Decoder(self.headers.get("Content-Encoding", ""))
        try:
            while piece := self._response.read(size):
                yield from decoder.feed(piece, size)
            if self._response.length:  # http.client says nothing of a body that is too short
                raise Cut(f"the connection ended {self._response.length} bytes early")
            decoder.end()
        except TimeoutError:
            raise HttpFailure("it doesn't answer in time") from None
        except zlib.error as error:
            raise Cut(f"the compressed answer is broken: {error}") from None
        except (http.client.HTTPException, OSError) as error:
            raise Cut(_describe(error)) from error

    def close(self) -> None:
        """Let go of the connection."""
        if self._response.isclosed() and not self._response.will_close:
            self._kept.put(self._key, self._connection)
        else:
            self._response.close()
            self._connection.close()


class HttpSession:
    """Sends requests one after the other. `certificates` is a file or folder of trusted ones, empty for the system's own."""

    def __init__(self, certificates: str, environ: Mapping[str, str]) -> None:
        self._certificates = certificates
        self._environ = environ
        self._kept = _Kept()
        self._context: ssl.SSLContext | None = None

    def send(
        self,
        method: str,
        url: str,
        *,
        body: BinaryIO | bytes | None = None,
        headers: Mapping[str, str],
        use_proxy: bool = True,
    ) -> Answer:
        """Send one request and return its answer, whatever its status. Raises `HttpFailure`."""
        parts = _split(url)
        proxy = find_proxy(parts, self._environ) if use_proxy else ""
        target = parts.path or "/"
        target = f"{target}?{parts.query}" if parts.query else target
        sent = {"Host": _host_header(parts), "Accept": "*/*", "Accept-Encoding": "gzip, deflate", **headers}
        if proxy and parts.scheme == "http":
            target = f"http://{parts.netloc.rpartition('@')[2]}{target}"
            sent.update(_proxy_headers(proxy))
        key = f"{parts.scheme}://{parts.netloc} {proxy}"
        # A kept connection may have been closed by the other side meanwhile; nothing of this request was read then.
        connection = self._kept.take(key) if method in ("GET", "DELETE") else None
        if connection is not None:
            try:
                return self._exchange(connection, key, method, target, body, sent)
            except Cut:
                connection.close()
        connection = self._connect(parts, proxy)
        return self._exchange(connection, key, method, target, body, sent)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        key: str,
        method: str,
        target: str,
        body: BinaryIO | bytes | None,
        headers: Mapping[str, str],
    ) -> Answer:
        try:
            try:
                connection.request(method, target, body, dict(headers))
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses an upload answers before it has read it all, and hangs up.
                if body is None:
                    raise
            return Answer(connection, key, self._kept)
        except TimeoutError:
            connection.close()
            raise HttpFailure("it doesn't answer in time") from None
        except ssl.SSLError as error:
            connection.close()
            raise HttpFailure(_describe(error)) from error
        except (http.client.RemoteDisconnected, ConnectionError, http.client.IncompleteRead) as error:
            connection.close()
            raise Cut(_describe(error)) from error
        except (http.client.HTTPException, OSError, ValueError) as error:
            connection.close()
            raise HttpFailure(_describe(error)) from error

    def _connect(self, parts: SplitResult, proxy: str) -> http.client.HTTPConnection:
        connection = self._make_connection(parts, proxy)
        try:
            connection.connect()
        except TimeoutError:
            raise HttpFailure("it doesn't answer in time") from None
        except ssl.SSLCertVerificationError as error:
            raise HttpFailure(f"its certificate isn't trusted: {error.verify_message}") from error
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise HttpFailure(_describe(error)) from error
        connection.sock.settimeout(limits.READ_TIMEOUT_SECONDS)
        return connection

    def _make_connection(self, parts: SplitResult, proxy: str) -> http.client.HTTPConnection:
        asked = _split(proxy) if proxy else parts
        host, timeout = asked.hostname or "", limits.CONNECT_TIMEOUT_SECONDS
        if parts.scheme == "http" and asked.scheme == "http":
            return http.client.HTTPConnection(host, asked.port, timeout=timeout)
        connection = http.client.HTTPSConnection(
            host, asked.port or (80 if proxy else 443), timeout=timeout, context=self._trust()
        )
        if proxy:
            connection.set_tunnel(parts.hostname or "", parts.port or 443, _proxy_headers(proxy))
        return connection

    def _trust(self) -> ssl.SSLContext:
        if self._context is None:
            place = self._certificates
            is_folder = bool(place) and Path(place).is_dir()
            file, folder = (None, place) if is_folder else (place or None, None)
            try:
                self._context = ssl.create_default_context(cafile=file, capath=folder)
            except (OSError, ssl.SSLError) as error:
                raise HttpFailure(f"the certificates in {place} can't be read: {_describe(error)}") from error
        return self._context


def find_proxy(parts: SplitResult, environ: Mapping[str, str]) -> str:
    """Return the proxy that the environment names for a URL, or empty. Lower-case names win, as everywhere.

    `HTTP_PROXY` doesn't count where a web server set it from a request's header `Proxy` (it then sets REQUEST_METHOD too).
    """
    host, port = (parts.hostname or "").lower(), parts.port
    without = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if any(_is_excepted(entry.strip().lower(), host, port) for entry in without.split(",")):
        return ""
    for name in (f"{parts.scheme}_proxy", f"{parts.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY"):
        if environ.get(name) and not (name == "HTTP_PROXY" and "REQUEST_METHOD" in environ):
            value = environ[name]
            return value if "://" in value else f"http://{value}"
    return ""


class _Kept:
    """Open connections that wait for their next request, by where they lead."""

    def __init__(self) -> None:
        self._waiting: dict[str, http.client.HTTPConnection] = {}

    def take(self, key: str) -> http.client.HTTPConnection | None:
        return self._waiting.pop(key, None)

    def put(self, key: str, connection: http.client.HTTPConnection) -> None:
        if key in self._waiting:
            connection.close()
        else:
            self._waiting[key] = connection


class _Decoder:
    """Undoes gzip and deflate, piece by piece, so that a small answer can't fill the memory."""

    def __init__(self, encoding: str) -> None:
        bits = _ENCODINGS.get(encoding.strip().lower())
        self._machine = zlib.decompressobj(bits) if bits is not None else None
        self._began = False

    def feed(self, piece: bytes, size: int) -> Iterator[bytes]:
        if self._machine is None:
            yield piece
            return
        self._began = True
        while piece:
            if out := self._machine.decompress(piece, size):
                yield out
            piece = self._machine.unconsumed_tail

    def end(self) -> None:
        if self._machine is not None and self._began and not self._machine.eof:
            raise zlib.error("it ends too early")


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        url.encode("ascii")
    except ValueError as error:
        raise BadAddress(str(error)) from None
    if not is_good or any(character <= " " or character == "\x7f" for character in url):
        raise BadAddress("a URL starts with http:// or https:// and a host name, and holds no blanks")
    return parts


def _host_header(parts: SplitResult) -> str:
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    default = {"http": 80, "https": 443}[parts.scheme]
    return host if parts.port in (None, default) else f"{host}:{parts.port}"


def _proxy_headers(proxy: str) -> dict[str, str]:
    parts = urlsplit(proxy)
    if parts.username is None:
        return {}
    secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(secret.encode()).decode()}"}


def _is_excepted(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of NO_PROXY names a host: `*`, a name with all below it, name:port, an address or a network."""
    if not entry:
        return False
    if entry in ("*", host, f"{host}:{port}"):
        return True
    if "/" in entry or host.replace(".", "").isdigit():
        try:
            return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    return host.endswith(f".{entry.lstrip('.')}")


def _describe(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
