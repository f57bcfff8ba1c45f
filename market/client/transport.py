"""Bytes to and from a server over HTTP: timeouts, retries, caps, redirects, proxies and certificates.

The only module that imports requests; its errors are converted here and nowhere else. What the bytes mean is in
`market.client.index_client` and `market.client.host_client`.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, runtime_checkable
from urllib.parse import urljoin

import requests

from market.client import limits
from market.client.origins import is_loopback, origin_of
from market.client.problems import parse_refusal
from market.client.resume import Resume
from market.errors import InvalidInput, Unavailable, Untrusted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from market.errors import MarketError

_RETRIED = frozenset({429, 502, 503, 504})
# A draft's name and the one that most servers use.
_REMAINING = ("RateLimit-Remaining", "X-RateLimit-Remaining")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_PROXY: dict[str, str | None] = {"http": None, "https": None, "all": None}


class Transport(Protocol):
    """What a client needs from a connection. Every method raises `MarketError`s only; `token` is sent to `url`'s origin only."""

    def get_json(self, url: str, token: str = "") -> object:
        """Return the JSON value at a URL."""

    def download(self, url: str, token: str, out: BinaryIO, limit_bytes: int) -> int:
        """Write the bytes at a URL into a seekable file and return their number; more than the limit is `Untrusted`.

        What the file holds already counts as its beginning: the caller must hold the whole against a digest.
        """

    def put(self, url: str, stream: BinaryIO, size: int, token: str, content_type: str) -> object:
        """Send a seekable stream of `size` bytes from its start and return the JSON answer."""

    def post_json(self, url: str, body: object, token: str = "") -> object:
        """Send a JSON value and return the JSON answer."""

    def delete_json(self, url: str, token: str = "") -> object:
        """Ask for a deletion and return the JSON answer."""


@runtime_checkable
class Dated(Protocol):
    """A connection that can also tell what time the other side has."""

    def read_clock(self, url: str) -> datetime | None:
        """Return the time that a server's answer bears, whatever it answers; None where it bears none."""


class RequestsTransport:
    """A `Transport` over requests. `kind` is the word for the other side in messages: `index` or `host`."""

    def __init__(
        self,
        kind: str = "index",
        *,
        environ: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._kind = kind
        self._session = requests.Session()
        self._session.headers["User-Agent"] = "market"
        self._certificates = find_certificates(os.environ if environ is None else environ)
        self._sleep = sleep

    def get_json(self, url: str, token: str = "") -> object:
        """Return the JSON value at a URL."""
        return self._parse(url, self._call("GET", url, token))

    def download(self, url: str, token: str, out: BinaryIO, limit_bytes: int) -> int:
        """Write the bytes at a URL into `out` and return their number; what breaks is resumed."""
        resume, deadline = Resume(out, limit_bytes), time.monotonic() + limits.DOWNLOAD_TIMEOUT_SECONDS
        while True:
            try:
                with self._open("GET", url, token, headers=resume.headers) as response:
                    if resume.begin(response.status_code, response.headers):
                        return self._copy(response, url, out, limit_bytes)
                if resume.is_exhausted:
                    raise self._rubbish(url, "it answers with another part of the file than was asked for")
            except (requests.exceptions.ChunkedEncodingError, requests.ConnectionError) as error:
                if not resume.may_go_on() or time.monotonic() > deadline:
                    raise self._unreachable(url, error) from error
                self._sleep(resume.delay_seconds)
            except requests.RequestException as error:
                raise self._unreachable(url, error) from error

    def put(self, url: str, stream: BinaryIO, size: int, token: str, content_type: str) -> object:
        """Send a seekable stream and return the JSON answer."""
        headers = {"Content-Type": content_type, "Content-Length": str(size)}
        return self._parse(url, self._call("PUT", url, token, body=stream, headers=headers))

    def post_json(self, url: str, body: object, token: str = "") -> object:
        """Send a JSON value and return the JSON answer."""
        return self._parse(
            url,
            self._call(
                "POST", url, token, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
            ),
        )

    def delete_json(self, url: str, token: str = "") -> object:
        """Ask for a deletion and return the JSON answer."""
        return self._parse(url, self._call("DELETE", url, token))

    def read_clock(self, url: str) -> datetime | None:
        """Return the time in the header `Date` of a server's answer, whatever it answers; no token is sent."""
        try:
            with self._follow("GET", url, "", None, {}) as response:
                return parsedate_to_datetime(response.headers["Date"])
        except requests.RequestException as error:
            raise self._unreachable(url, error) from error
        except (KeyError, ValueError):
            return None

    def _call(
        self,
        method: str,
        url: str,
        token: str,
        *,
        body: BinaryIO | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        try:
            with self._open(method, url, token, body=body, headers=headers) as response:
                return self._read(response, url)
        except requests.RequestException as error:
            raise self._unreachable(url, error) from error

    def _open(
        self,
        method: str,
        url: str,
        token: str,
        *,
        body: BinaryIO | bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Return a good answer, its body unread. Tries again what may pass by itself: a busy server, a connection cut short."""
        for attempt in range(1, limits.MAX_ATTEMPTS + 1):
            is_last = attempt == limits.MAX_ATTEMPTS
            try:
                response = self._follow(method, url, token, body, headers or {})
            except (requests.exceptions.ChunkedEncodingError, requests.ConnectionError) as error:
                # A refused connection, an unknown name or a bad certificate stays so; only a connection cut short is tried again.
                if is_last or method == "POST" or "Connection aborted" not in str(error):
                    raise
                self._sleep(_backoff(attempt))
                continue
            if response.status_code < 400:
                return response
            delay = _retry_delay(response, attempt)
            if is_last or method == "POST" or delay is None:
                with response:
                    raise self._refusal(response, url)
            response.close()
            self._sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    def _follow(
        self, method: str, url: str, token: str, body: BinaryIO | bytes | None, headers: Mapping[str, str]
    ) -> requests.Response:
        """Send a request and follow its redirects by hand, so that a token never reaches another origin."""
        origin, target = origin_of(url), url
        for _ in range(limits.MAX_REDIRECTS + 1):
            response = self._send(method, target, token if origin_of(target) == origin else "", body, headers)
            location = response.headers.get("Location", "")
            if response.status_code not in _REDIRECTS or not location:
                return response
            response.close()
            target = urljoin(target, location)
            self._check_redirect(method, url, target)
        raise Unavailable(
            f"{self._peer(url)} redirects in a circle",
            why=f"more than {limits.MAX_REDIRECTS} redirects",
            hint="check the URL",
        )

    def _check_redirect(self, method: str, url: str, target: str) -> None:
        if method != "GET":
            raise Unavailable(
                f"{self._peer(url)} redirects a {method} to {target}",
                why="only reading follows redirects",
                hint="give that URL instead",
            )
        if not target.startswith(("http://", "https://")) or (
            url.startswith("https://") and not target.startswith("https://")
        ):
            raise Untrusted(
                f"{self._peer(url)} redirects to {target}", why="a redirect must not leave https", hint="check the URL"
            )

    def _send(
        self, method: str, url: str, token: str, body: BinaryIO | bytes | None, headers: Mapping[str, str]
    ) -> requests.Response:
        if body is not None and not isinstance(body, bytes):
            body.seek(0)
        return self._session.request(
            method,
            url,
            data=body,
            headers=dict(headers),
            auth=_Bearer(token),
            timeout=(limits.CONNECT_TIMEOUT_SECONDS, limits.READ_TIMEOUT_SECONDS),
            allow_redirects=False,
            stream=True,
            verify=self._certificates,
            # A proxy in the environment can't reach this machine's own servers.
            proxies=_NO_PROXY if is_loopback(url) else None,  # type: ignore[arg-type]
        )

    def _read(self, response: requests.Response, url: str) -> bytes:
        body, deadline = bytearray(), time.monotonic() + limits.JSON_TIMEOUT_SECONDS
        for chunk in response.iter_content(limits.CHUNK_BYTES):
            body += chunk
            if len(body) > limits.MAX_JSON_BYTES or time.monotonic() > deadline:
                raise self._rubbish(
                    url,
                    f"an answer of more than {limits.MAX_JSON_BYTES} bytes or {limits.JSON_TIMEOUT_SECONDS:g} seconds",
                )
        return bytes(body)

    def _copy(self, response: requests.Response, url: str, out: BinaryIO, limit_bytes: int) -> int:
        size = out.tell()
        for chunk in response.iter_content(limits.DOWNLOAD_CHUNK_BYTES):
            size += len(chunk)
            if size > limit_bytes:
                raise Untrusted(
                    f"{url} is larger than promised",
                    why=f"more than {limit_bytes} bytes came",
                    hint="tell the index's operator",
                )
            out.write(chunk)
        return size

    def _parse(self, url: str, body: bytes) -> object:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._rubbish(url, f"the answer starts with {body[:60]!r}") from None

    def _refusal(self, response: requests.Response, url: str) -> MarketError:
        return parse_refusal(
            response.status_code,
            self._read(response, url),
            self._peer(url),
            retry_after=response.headers.get("Retry-After", ""),
            remaining=next((response.headers[name] for name in _REMAINING if name in response.headers), ""),
        )

    def _rubbish(self, url: str, why: str) -> Unavailable:
        return Unavailable(
            f"{self._peer(url)} answers something else than Market's protocol",
            why=why,
            hint=f"check the URL of the {self._kind}",
        )

    def _unreachable(self, url: str, error: requests.RequestException) -> MarketError:
        if isinstance(
            error,
            requests.exceptions.InvalidURL | requests.exceptions.InvalidSchema | requests.exceptions.MissingSchema,
        ):
            return InvalidInput(f"{url!r} is not a URL", why=str(error))
        start = f"start one with `market {self._kind} serve`, or " if is_loopback(url) else ""
        return Unavailable(
            f"{self._peer(url)} can't be reached",
            why=_cause(error),
            hint=f"{start}check the URL, the network and any proxy",
        )

    def _peer(self, url: str) -> str:
        return f"the {self._kind} at {origin_of(url)}"


class _Bearer(requests.auth.AuthBase):
    """Sends our token or nothing. Without an `auth` of ours requests would send what ~/.netrc holds for the host."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def find_certificates(environ: Mapping[str, str]) -> str | bool:
    """Return where trusted certificates are: the environment's choice, else the system's store, else the bundle of requests (True)."""
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        if environ.get(name):
            return environ[name]
    paths = ssl.get_default_verify_paths()
    if paths.cafile and Path(paths.cafile).is_file():
        return paths.cafile
    if paths.capath and any(Path(paths.capath).glob("*.0")):
        return paths.capath
    return True


def _retry_delay(response: requests.Response, attempt: int) -> float | None:
    """Return the seconds to wait before trying again, or None where it makes no sense."""
    if response.status_code not in _RETRIED:
        return None
    asked = response.headers.get("Retry-After", "")
    delay = _parse_retry_after(asked) if asked else _backoff(attempt)
    return delay if delay <= limits.MAX_RETRY_AFTER_SECONDS else None


def _backoff(attempt: int) -> float:
    return float(limits.RETRY_DELAY_SECONDS * 2 ** (attempt - 1))


def _parse_retry_after(text: str) -> float:
    """Return the seconds that a server asks to wait, as a number or until a date (RFC 9110, section 10.2.3)."""
    if text.strip().isdigit():
        return float(text)
    try:
        return max(parsedate_to_datetime(text).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return limits.RETRY_DELAY_SECONDS


def _cause(error: requests.RequestException) -> str:
    """Return the innermost reason: requests wraps the operating system's sentence in three layers of object names."""
    if isinstance(error, requests.exceptions.Timeout):
        return "it doesn't answer in time"
    if isinstance(error, requests.exceptions.SSLError):
        return f"its certificate isn't trusted: {error.args[0] if error.args else error}"
    reason: BaseException = error
    while (
        inner := getattr(reason, "reason", None) or reason.__cause__ or reason.__context__
    ) is not None and isinstance(inner, BaseException):
        reason = inner
    return getattr(reason, "strerror", "") or str(reason)
