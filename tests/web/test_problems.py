from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from market import errors
from market.errors import InvalidInput, MarketError, NotFound, Problem, Severity, Unavailable
from market.web.problems import STATUSES, BodyTooLarge, ProblemEdge, WrongMethod, dump_error, status_of
from tests.web.asgi import ask, call

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send


def raising(exception: Exception) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise exception

    return ProblemEdge(app)


def every_error() -> list[type[MarketError]]:
    return [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, MarketError) and kind is not MarketError]


@pytest.mark.parametrize("kind", every_error())
def test_every_error_has_a_status_of_its_own_in_the_table(kind: type[MarketError]) -> None:
    assert kind in STATUSES
    answer = ask(raising(kind("it failed", why="because", hint="do this")), "GET", "/")
    assert answer.status == STATUSES[kind]
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == STATUSES[kind]
    assert (answer.json["code"], answer.json["detail"], answer.json["why"], answer.json["hint"]) == (kind.slug, "it failed", "because", "do this")


@pytest.mark.parametrize(
    ("kind", "status"),
    [(errors.InvalidInput, 422), (errors.NotFound, 404), (errors.Conflict, 409), (errors.Untrusted, 422), (errors.Refused, 403),
     (errors.Unauthenticated, 401), (errors.Unavailable, 503), (errors.RateLimited, 429), (errors.PluginError, 500), (BodyTooLarge, 413), (WrongMethod, 405)],
)  # fmt: skip
def test_status_of_each_class(kind: type[MarketError], status: int) -> None:
    assert status_of(kind("x")) == status


def test_subclass_takes_its_parents_status() -> None:
    class Odd(NotFound):
        pass

    assert status_of(Odd("x")) == 404


def test_problems_and_details_are_listed() -> None:
    problem = Problem("rule-x", Severity.ERROR, "bad", "a.md", 3, 4, "reason", "fix")
    values = dump_error(InvalidInput("m", problems=[problem], details={"limit": 1}))
    assert values["problems"] == [
        {"rule": "rule-x", "severity": "error", "text": "bad", "file": "a.md", "line": 3, "column": 4, "reason": "reason", "fix": "fix"}
    ]
    assert values["details"] == {"limit": 1}
    assert (values["type"], values["title"]) == ("about:blank", "Not accepted")


def test_headers_that_a_status_obliges_to() -> None:
    assert ask(raising(errors.Unauthenticated("x")), "GET", "/").headers["www-authenticate"].startswith("Bearer")
    assert int(ask(raising(Unavailable("x")), "GET", "/").headers["retry-after"]) > 0
    assert int(ask(raising(errors.RateLimited("x")), "GET", "/").headers["retry-after"]) > 0
    passed_on = errors.RateLimited("x", details={"retry_after": "77"})
    assert ask(raising(passed_on), "GET", "/").headers["retry-after"] == "77"
    assert ask(raising(NotFound("x")), "GET", "/").headers["cache-control"] == "no-store"


def test_foreign_exception_is_hidden_from_the_caller_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "market.web"):
        answer = ask(raising(ValueError("secret /etc/path")), "GET", "/")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert "secret /etc/path" in caplog.text


def test_error_after_the_answer_began_breaks_the_connection() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ValueError("too late")

    with pytest.raises(ValueError, match="too late"):
        asyncio.run(call(ProblemEdge(app), "GET", "/"))


async def _hello(_request: Request) -> Response:
    return PlainTextResponse("hello")


def test_unknown_address_and_wrong_method_are_problems_too() -> None:
    app = ProblemEdge(Router([Route("/hello", _hello, methods=["GET"])]))
    assert ask(app, "GET", "/hello").text == "hello"
    assert (ask(app, "GET", "/nope").status, ask(app, "GET", "/nope").json["code"]) == (404, "not-found")
    refused = ask(app, "POST", "/hello")
    assert (refused.status, refused.json["status"], refused.headers["allow"]) == (405, 405, "GET, HEAD")


def test_page_answers_instead_where_it_wants_to() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise NotFound("gone")

    def page(scope: Scope, error: MarketError) -> Response | None:
        return PlainTextResponse(error.message, 404) if scope["path"] == "/page" else None

    assert ask(ProblemEdge(app, page), "GET", "/page").text == "gone"
    assert ask(ProblemEdge(app, page), "GET", "/v1/x").json["detail"] == "gone"


def test_writes_and_errors_are_logged_and_good_reads_are_not(caplog: pytest.LogCaptureFixture) -> None:
    app = ProblemEdge(Router([Route("/hello", _hello, methods=["GET", "PUT"])]))
    with caplog.at_level(logging.INFO, "market.web"):
        ask(app, "GET", "/hello")
        assert caplog.records == []
        ask(app, "PUT", "/hello")
        ask(app, "GET", "/nope")
    first, second = caplog.records
    assert (first.__dict__["method"], first.__dict__["status"]) == ("PUT", 200)
    assert (second.__dict__["path"], second.__dict__["code"]) == ("/nope", "not-found")
