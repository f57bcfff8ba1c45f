from __future__ import annotations

import gzip
import io
import json
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from market.client import limits
from market.client.transport import RequestsTransport, find_certificates
from market.errors import (
    Conflict,
    InvalidInput,
    MarketError,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
    Untrusted,
)
from tests.client.server import Answer, Asked, serve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "skm_secret"
EVERYWHERE = "127.0.0.2"


def a_transport(slept: list[float] | None = None) -> RequestsTransport:
    return RequestsTransport("index", environ={}, sleep=(slept if slept is not None else []).append)


def answers(*given: Answer) -> Callable[[Asked], Answer]:
    left = list(given)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


def a_problem(status: int, code: str, **fields: object) -> Answer:
    body = {
        "status": status,
        "code": code,
        "detail": "what happened",
        "why": "the cause",
        "hint": "what to do",
        **fields,
    }
    return Answer(status, json.dumps(body).encode(), {"Content-Type": "application/problem+json"})


def test_the_time_of_a_server_is_read_whatever_it_answers() -> None:
    for status in (200, 404, 500):
        with serve(lambda _, status=status: Answer(status)) as server:  # type: ignore[misc]
            read = a_transport().read_clock(server.url)
            assert read is not None and abs((datetime.now(UTC) - read).total_seconds()) < 5
    with pytest.raises(Unavailable):
        a_transport().read_clock("http://127.0.0.1:9/")


def test_json_is_returned_and_the_token_is_sent() -> None:
    with serve(answers(Answer(body=b'{"a": [1]}'))) as server:
        assert a_transport().get_json(f"{server.url}/x", TOKEN) == {"a": [1]}
    assert server.asked[0].authorization == f"Bearer {TOKEN}"


def test_without_a_token_nothing_is_sent_even_if_netrc_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    with serve(answers(Answer())) as server:
        a_transport().get_json(f"{server.url}/x")
        a_transport().get_json(f"{server.url}/x", TOKEN)
    assert [asked.authorization for asked in server.asked] == ["", f"Bearer {TOKEN}"]


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serve(answers(Answer(body=b"1"))) as server:
        assert a_transport().get_json(f"{server.url}/x") == 1


def test_a_proxy_of_the_environment_is_used_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(answers(Answer(body=b'"by proxy"'))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert a_transport().get_json("http://index.example/x") == "by proxy"
    assert proxy.asked[0].path == "http://index.example/x"


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "unauthenticated", Unauthenticated),
        (403, "refused", Refused),
        (404, "not-found", NotFound),
        (409, "conflict", Conflict),
        (422, "invalid-input", InvalidInput),
        (422, "untrusted", Untrusted),
        (413, "invalid-input", InvalidInput),
        (500, "server-fault", Unavailable),
    ],
)
def test_a_refusal_becomes_the_error_of_its_code(status: int, code: str, kind: type[MarketError]) -> None:
    problem = {"rule": "entry-missing", "severity": "error", "text": "no entry", "file": "skill.json", "line": 3}
    with serve(answers(a_problem(status, code, problems=[problem]))) as server, pytest.raises(MarketError) as caught:
        a_transport().get_json(server.url)
    assert type(caught.value) is kind
    assert (caught.value.message, caught.value.why, caught.value.hint) == ("what happened", "the cause", "what to do")
    assert [str(found.place) for found in caught.value.problems] == ["skill.json:3"]


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (Answer(200, b"<html>"), Unavailable, "something else than Market's protocol"),
        (Answer(200, b"[" * 200_000), Unavailable, "something else than Market's protocol"),
        (Answer(200, b""), Unavailable, "something else than Market's protocol"),
        (Answer(404, b"<html>nginx"), Unavailable, "something else than Market's protocol"),
        (Answer(401, b"<html>"), Unauthenticated, "HTTP 401"),
        (Answer(500, b"\xff\xfe"), Unavailable, "HTTP 500"),
        (Answer(302, b"", {"Location": "file:///etc/passwd"}), Untrusted, "redirects to file:"),
    ],
)
def test_rubbish_becomes_a_clear_sentence(answer: Answer, kind: type[MarketError], words: str) -> None:
    with serve(answers(answer)) as server, pytest.raises(MarketError) as caught:
        a_transport().get_json(server.url)
    assert type(caught.value) is kind
    assert words in caught.value.message and server.url in caught.value.message
    assert caught.value.hint


def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_JSON_BYTES", 1000)
    bomb = gzip.compress(b" " * 10_000_000)
    with (
        serve(answers(Answer(body=bomb, headers={"Content-Encoding": "gzip"}))) as server,
        pytest.raises(Unavailable, match="something else"),
    ):
        a_transport().get_json(server.url)


def test_nobody_listening_is_said_at_once_with_what_to_do() -> None:
    slept: list[float] = []
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(Unavailable, match="can't be reached") as caught:
            a_transport(slept).get_json(url)
    assert caught.value.why == "Connection refused"
    assert "market index serve" in caught.value.hint
    assert slept == []


def test_an_unknown_name_is_said() -> None:
    with pytest.raises(Unavailable, match="can't be reached"):
        a_transport().get_json("http://index.invalid/")


@pytest.mark.parametrize("first", [Answer(503), Answer(502), Answer(cut=True)])
def test_what_may_pass_by_itself_is_tried_again(first: Answer) -> None:
    slept: list[float] = []
    with serve(answers(first, Answer(body=b"2"))) as server:
        assert a_transport(slept).get_json(server.url) == 2
    assert slept == [limits.RETRY_DELAY_SECONDS]


def test_an_upload_is_tried_again_from_its_beginning() -> None:
    with serve(answers(Answer(503, headers={"Retry-After": "1"}), Answer())) as server:
        slept: list[float] = []
        a_transport(slept).put(server.url, io.BytesIO(b"archive"), 7, TOKEN, "application/zip")
    assert [asked.body for asked in server.asked] == [b"archive", b"archive"]
    assert slept == [1.0]


def test_a_call_is_never_sent_twice() -> None:
    with serve(answers(Answer(503))) as server, pytest.raises(Unavailable):
        a_transport().post_json(server.url, {})
    assert len(server.asked) == 1


def test_it_gives_up_and_passes_on_how_long_to_wait() -> None:
    with (
        serve(answers(Answer(429, b"", {"Retry-After": "3600"}))) as server,
        pytest.raises(Unavailable, match="asks to wait") as caught,
    ):
        a_transport().get_json(server.url)
    assert "3600 seconds" in caught.value.hint
    assert len(server.asked) == 1
    with serve(answers(Answer(503))) as server, pytest.raises(Unavailable, match="not ready"):
        a_transport().get_json(server.url)
    assert len(server.asked) == limits.MAX_ATTEMPTS


def test_a_token_stays_on_its_own_origin() -> None:
    with serve(answers(Answer(body=b"3")), EVERYWHERE) as other:
        own = answers(Answer(302, b"", {"Location": "/here"}), Answer(302, b"", {"Location": f"{other.url}/there"}))
        with serve(own) as server:
            assert a_transport().get_json(server.url, TOKEN) == 3
    assert [asked.authorization for asked in server.asked] == [f"Bearer {TOKEN}"] * 2
    assert [asked.authorization for asked in other.asked] == [""]


def test_a_redirected_publish_is_refused() -> None:
    with (
        serve(answers(Answer(307, b"", {"Location": "/elsewhere"}))) as server,
        pytest.raises(Unavailable, match="redirects a PUT"),
    ):
        a_transport().put(server.url, io.BytesIO(b"x"), 1, TOKEN, "application/zip")
    assert len(server.asked) == 1


def test_a_circle_of_redirects_ends() -> None:
    with serve(answers(Answer(302, b"", {"Location": "/again"}))) as server, pytest.raises(Unavailable, match="circle"):
        a_transport().get_json(server.url)
    assert len(server.asked) == limits.MAX_REDIRECTS + 1


def test_a_download_is_written_and_bounded() -> None:
    with serve(answers(Answer(body=b"x" * 5000))) as server:
        out = io.BytesIO()
        assert a_transport().download(server.url, "", out, 5000) == 5000
        assert out.getvalue() == b"x" * 5000
        with pytest.raises(Untrusted, match="larger than promised"):
            a_transport().download(server.url, "", io.BytesIO(), 4999)


@pytest.mark.parametrize("url", ["http://", "ftp://x/y", "x/y"])
def test_what_is_no_url_is_invalid(url: str) -> None:
    with pytest.raises(InvalidInput):
        a_transport().get_json(url)


def test_certificates_come_from_the_environment_first_then_from_the_system() -> None:
    assert find_certificates({"SSL_CERT_FILE": "/a", "REQUESTS_CA_BUNDLE": "/b"}) == "/b"
    assert find_certificates({"SSL_CERT_FILE": "/a"}) == "/a"
    assert find_certificates({}) is True or str(find_certificates({})).startswith("/")
