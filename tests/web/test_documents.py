from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.web.documents import IMMUTABLE, Document, has_etag, make_etag, send_document
from tests.web.asgi import ask

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

BODY = b'{"a": 1}'
ETAG = make_etag(BODY).decode()


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    await send_document(scope, send, Document(BODY, ETAG.encode()), cache_control=IMMUTABLE if scope["path"] == "/immutable" else b"no-cache")


def test_document_with_its_headers() -> None:
    answer = ask(app, "GET", "/")
    assert (answer.status, answer.body) == (200, BODY)
    assert answer.headers["etag"] == ETAG
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(BODY))
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["vary"] == "Authorization"
    assert "immutable" in ask(app, "GET", "/immutable").headers["cache-control"]


def test_head_has_the_headers_of_get_and_no_body() -> None:
    got, asked = ask(app, "GET", "/"), ask(app, "HEAD", "/")
    assert asked.body == b""
    assert asked.headers == got.headers


@pytest.mark.parametrize("value", [ETAG, "*", f'"other", {ETAG}', f"W/{ETAG}", f' {ETAG} ,"x"'])
def test_known_etag_is_answered_with_304(value: str) -> None:
    answer = ask(app, "GET", "/", headers={"If-None-Match": value})
    assert (answer.status, answer.body) == (304, b"")
    assert answer.headers["etag"] == ETAG
    assert answer.headers["vary"] == "Authorization"


@pytest.mark.parametrize("value", ['"other"', "", ETAG.strip('"')])
def test_other_etag_is_answered_with_the_document(value: str) -> None:
    assert ask(app, "GET", "/", headers={"If-None-Match": value}).status == 200


def test_etag_changes_with_the_bytes() -> None:
    assert make_etag(b"a") != make_etag(b"b")
    assert make_etag(b"a").startswith(b'"')
    assert not has_etag([], make_etag(b"a"))
