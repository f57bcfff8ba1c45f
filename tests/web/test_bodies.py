from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from starlette.responses import PlainTextResponse

from market.web.bodies import receive_body, receive_bytes
from market.web.problems import ProblemEdge
from tests.web.asgi import ask

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

LIMIT = 10


def storing(folder: Path) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        async with receive_body(scope, receive, folder, limit_bytes=LIMIT) as body:
            body.stream.seek(0)
            assert body.path.read_bytes() == body.stream.read()
            await PlainTextResponse(f"{body.size} {body.digest}")(scope, receive, send)

    return ProblemEdge(app)


def test_body_is_stored_hashed_and_gone_afterwards(tmp_path: Path) -> None:
    answer = ask(storing(tmp_path), "PUT", "/", body=[b"01234", b"", b"56789"])
    assert answer.text == f"10 sha256:{hashlib.sha256(b'0123456789').hexdigest()}"
    assert list(tmp_path.iterdir()) == []


def test_empty_body(tmp_path: Path) -> None:
    assert ask(storing(tmp_path), "PUT", "/").text.startswith("0 sha256:e3b0c442")


def test_too_large_body_is_refused_by_its_announcement_before_it_is_read(tmp_path: Path) -> None:
    answer = ask(storing(tmp_path), "PUT", "/", headers={"Content-Length": "11"}, body=b"x")
    assert (answer.status, answer.json["code"], answer.json["details"]) == (413, "invalid-input", {"limit_bytes": 10})


def test_too_large_body_is_refused_where_the_announcement_lied(tmp_path: Path) -> None:
    answer = ask(storing(tmp_path), "PUT", "/", headers={"Content-Length": "3"}, body=[b"0123456789", b"x", b"never read"])
    assert answer.status == 413
    assert list(tmp_path.iterdir()) == []


def test_caller_who_goes_away_leaves_nothing(tmp_path: Path) -> None:
    answer = ask(storing(tmp_path), "PUT", "/", body=[b"012"], disconnect=True)
    assert answer.status == 422
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("pieces", "status"), [([b"0123", b"456789"], 200), ([b"0123456789", b"x"], 413)])
def test_small_body(pieces: list[bytes], status: int) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = await receive_bytes(scope, receive, limit_bytes=LIMIT)
        await PlainTextResponse(body)(scope, receive, send)

    answer = ask(ProblemEdge(app), "POST", "/", body=pieces)
    assert answer.status == status
    if status == 200:
        assert answer.body == b"0123456789"


def test_folder_that_cannot_be_written_is_the_servers_fault_and_no_path_is_told(tmp_path: Path) -> None:
    answer = ask(storing(tmp_path / "gone"), "PUT", "/", body=b"x")
    assert answer.status == 503
    assert str(tmp_path) not in answer.text
