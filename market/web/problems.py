"""Errors as HTTP answers: the web's one table from error class to status, and the shape of problem+json (RFC 9457).

Foreign exceptions become one 500 answer that tells nothing about the inside; the traceback goes to the log.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.responses import Response

from market.client.wire import PROBLEM_TYPE, dump_problem
from market.errors import (
    Conflict,
    InvalidInput,
    MarketError,
    NotFound,
    PluginError,
    RateLimited,
    Refused,
    Unauthenticated,
    Unavailable,
    Untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class ServerFault(MarketError):
    """A fault of ours. The caller learns only that it happened."""

    slug = "server-fault"


class BadRequest(InvalidInput):
    """The request speaks another protocol than ours, or says of itself what isn't so."""


class WrongMethod(InvalidInput):
    """The address exists, but not for this method; `allow` in its details names those that it takes."""


class BodyTooLarge(InvalidInput):
    """The request's body is longer than the server takes."""


STATUSES: dict[type[MarketError], int] = {
    BadRequest: 400,
    WrongMethod: 405,
    BodyTooLarge: 413,
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    Untrusted: 422,
    Refused: 403,
    Unauthenticated: 401,
    RateLimited: 429,
    Unavailable: 503,
    PluginError: 500,
}
TITLES: dict[int, str] = {
    400: "Bad request",
    401: "Not signed in",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Not accepted",
    429: "Too many requests",
    500: "Server error",
    503: "Not available",
}
RETRY_AFTER_SECONDS = 2

_READS = frozenset({"GET", "HEAD"})

_log = logging.getLogger("market.web")


def status_of(error: MarketError) -> int:
    """Return the HTTP status of an error: that of its nearest class in the table, and 500 outside it."""
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def dump_error(error: MarketError) -> dict[str, Any]:
    """Return an error as the JSON values of problem+json."""
    status = status_of(error)
    return {
        "type": "about:blank",
        "title": TITLES.get(status, "Error"),
        "status": status,
        "detail": error.message,
        "code": error.slug,
        "why": error.why,
        "hint": error.hint,
        "problems": [dump_problem(problem) for problem in error.problems],
        "details": error.details,
    }


def problem_headers(status: int) -> dict[str, str]:
    """Return the headers that a status obliges us to send (401 names the scheme, 429 and 503 say when to come back)."""
    headers = {"cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="market"'
    if status in (429, 503):
        headers["retry-after"] = str(RETRY_AFTER_SECONDS)
    return headers


def problem_response(error: MarketError) -> Response:
    """Return an error as an `application/problem+json` answer."""
    status = status_of(error)
    body = msgspec.json.encode(dump_error(error), enc_hook=str)
    headers = problem_headers(status)
    if isinstance(error, RateLimited) and (asked := str(error.details.get("retry_after", ""))).isdigit():
        # Another server's wish, passed on: no use in coming back earlier.
        headers["retry-after"] = asked
    if isinstance(error, WrongMethod) and (allow := str(error.details.get("allow", ""))):
        headers["allow"] = allow
    return Response(body, status, headers, PROBLEM_TYPE)


def known_error(exception: Exception) -> MarketError:
    """Return the exception as an error that a caller may see; what isn't ours is logged and hidden."""
    if isinstance(exception, MarketError):
        return exception
    if isinstance(exception, HTTPException):
        return _routing_error(exception)
    _log.error("unexpected %s", type(exception).__name__, exc_info=exception)
    return ServerFault(
        "the server failed to answer this request", hint="try again; the operator finds the cause in the server's log"
    )


def logs_reads() -> bool:
    """Answer whether reads that succeed get a line too."""
    return _log.isEnabledFor(logging.DEBUG)


class ProblemEdge:
    """The outermost layer of a server: turns every exception of the app into an answer, and logs what is worth a line.

    Reads that succeed are logged at debug level only: they are the many, and a line costs more than the answer. `page` may answer
    an error instead of problem+json, for people's browsers; it returns None for requests that aren't its.
    """

    def __init__(self, app: ASGIApp, page: Callable[[Scope, MarketError], Response | None] | None = None) -> None:
        self._app = app
        self._page = page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Starlette's router raises its 404 and 405 instead of answering in plain text only where it finds an app here.
        scope.setdefault("app", self)
        started, status, error = time.perf_counter(), 0, None

        async def watch(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, watch)
        except Exception as exception:
            error = known_error(exception)
            if status:
                # Half an answer is out: only breaking the connection tells the client so.
                raise
            await self._answer(scope, error)(scope, receive, watch)
        if status >= 400 or scope["method"] not in _READS or logs_reads():
            _log_request(scope, status, started, error)

    def _answer(self, scope: Scope, error: MarketError) -> Response:
        return (self._page and self._page(scope, error)) or problem_response(error)


def _log_request(scope: Scope, status: int, started: float, error: MarketError | None) -> None:
    fields = {
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round((time.perf_counter() - started) * 1000, 2),
        "client": (scope.get("client") or ("",))[0],
    }
    if error is not None:
        fields |= {"error": error.message, "code": error.slug}
    _log.log(logging.WARNING if status >= 500 else logging.INFO, "request", extra=fields)


def _routing_error(exception: HTTPException) -> MarketError:
    if exception.status_code == 404:
        return NotFound("there is nothing at this address", hint="the pages start at /, the API at /v1/packs")
    if exception.status_code == 405:
        # The router has them in a set, and so in another order in each process.
        allow = ", ".join(sorted((exception.headers or {}).get("Allow", "").split(", ")))
        return WrongMethod("this address doesn't take that method", why=f"it takes {allow}", details={"allow": allow})
    return InvalidInput(exception.detail or "the request can't be read")
