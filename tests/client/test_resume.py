"""Downloads that break: resumed with Range and If-Range where the server proves that the rest is of the same bytes."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING

import pytest

from market.client import limits
from market.client.transport import RequestsTransport
from market.errors import MarketError, Unavailable, Untrusted
from tests.client.server import Answer, Asked, serve

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENT = bytes(range(256)) * 1024
SIZE = len(CONTENT)
PIECE = 5 * limits.DOWNLOAD_CHUNK_BYTES


@dataclass
class Breaking:
    """A server of CONTENT that sends at most `piece` bytes of each answer, and knows Range and If-Range."""

    piece: int = PIECE
    headers: Mapping[str, str] = field(default_factory=lambda: {"ETag": '"one"'})
    knows_range: bool = True
    content: bytes = CONTENT

    def __call__(self, asked: Asked) -> Answer:
        start = int(asked.headers["Range"][6:-1]) if self.knows_range and "Range" in asked.headers else 0
        validator = self.headers.get("ETag") or self.headers.get("Last-Modified")
        if asked.headers.get("If-Range", validator) != validator:
            start = 0
        rest = self.content[start:]
        headers = {"Content-Length": str(len(rest)), **self.headers}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"
        return Answer(206 if start else 200, rest[: self.piece], headers)


def download(url: str, out: io.BytesIO | None = None, slept: list[float] | None = None) -> bytes:
    target = out or io.BytesIO()
    pauses: list[float] = slept if slept is not None else []
    assert RequestsTransport("index", environ={}, sleep=pauses.append).download(url, "skm_x", target, SIZE) == SIZE
    return target.getvalue()


def test_a_download_that_breaks_is_resumed_where_it_broke() -> None:
    slept: list[float] = []
    with serve(Breaking()) as server:
        assert download(server.url, slept=slept) == CONTENT
    assert [asked.headers.get("Range") for asked in server.asked] == [
        None,
        *(f"bytes={number * PIECE}-" for number in (1, 2, 3)),
    ]
    assert [asked.headers.get("If-Range") for asked in server.asked] == [None, '"one"', '"one"', '"one"']
    assert {asked.authorization for asked in server.asked} == {"Bearer skm_x"}
    assert slept == [limits.RETRY_DELAY_SECONDS] * 3


def test_last_modified_is_a_validator_too_and_a_weak_etag_is_none() -> None:
    when = formatdate(1_000_000, usegmt=True)
    with serve(Breaking(headers={"Last-Modified": when})) as server:
        assert download(server.url) == CONTENT
    assert server.asked[1].headers["If-Range"] == when
    with serve(Breaking(piece=SIZE - 1, headers={"ETag": 'W/"one"'})) as server, pytest.raises(Unavailable):
        download(server.url)
    assert all("Range" not in asked.headers for asked in server.asked)


def test_a_file_that_changed_meanwhile_is_begun_anew() -> None:
    breaking = Breaking(piece=SIZE)

    def answer(asked: Asked) -> Answer:
        if len(server.asked) == 1:
            return Breaking(content=b"x" * SIZE, headers={"ETag": '"old"'})(asked)
        return breaking(asked)

    with serve(answer) as server:
        assert download(server.url) == CONTENT
    assert server.asked[1].headers["If-Range"] == '"old"'


def test_a_server_without_ranges_gets_it_from_the_start() -> None:
    def answer(asked: Asked) -> Answer:
        return Breaking(piece=PIECE if len(server.asked) == 1 else SIZE, knows_range=False)(asked)

    with serve(answer) as server:
        assert download(server.url) == CONTENT


@pytest.mark.parametrize("content_range", ["bytes 7-262143/262144", "", "nonsense", "bytes */262144"])
def test_another_part_than_was_asked_for_is_thrown_away(content_range: str) -> None:
    def answer(asked: Asked) -> Answer:
        if "Range" in asked.headers:
            return Answer(206, b"y" * 100, {"Content-Range": content_range})
        return Breaking(piece=PIECE if len(server.asked) == 1 else SIZE)(asked)

    with serve(answer) as server:
        assert download(server.url) == CONTENT


def test_a_server_that_sends_parts_without_end_is_left() -> None:
    with (
        serve(lambda asked: Answer(206, b"y", {"Content-Range": "bytes 9-9/262144"})) as server,
        pytest.raises(Unavailable, match="something else"),
    ):
        download(server.url)
    assert len(server.asked) == limits.MAX_DOWNLOAD_ATTEMPTS


def test_what_an_earlier_command_left_is_continued() -> None:
    out = io.BytesIO(CONTENT[:6000])
    with serve(Breaking(piece=SIZE)) as server:
        assert download(server.url, out) == CONTENT
    assert server.asked[0].headers["Range"] == "bytes=6000-" and "If-Range" not in server.asked[0].headers


def test_the_whole_is_bounded_also_when_it_comes_in_parts() -> None:
    with serve(Breaking(content=CONTENT + b"more")) as server, pytest.raises(Untrusted, match="larger than promised"):
        download(server.url)
    with serve(Breaking(piece=SIZE)) as server:
        assert download(server.url, io.BytesIO(b"z" * (SIZE + 9))) == CONTENT


def test_no_progress_ends_it() -> None:
    def answer(asked: Asked) -> Answer:
        return Breaking(piece=PIECE if len(server.asked) == 1 else 0)(asked)

    with serve(answer) as server, pytest.raises(Unavailable, match="can't be reached"):
        download(server.url)
    assert len(server.asked) == limits.MAX_ATTEMPTS


def test_a_refusal_half_way_is_the_server_s() -> None:
    def answer(asked: Asked) -> Answer:
        return Breaking()(asked) if len(server.asked) == 1 else Answer(403, b"{}")

    with serve(answer) as server, pytest.raises(MarketError, match="HTTP 403"):
        download(server.url)


def test_retry_after_may_be_a_date() -> None:
    slept: list[float] = []

    def answer(asked: Asked) -> Answer:
        if len(server.asked) == 1:
            return Answer(503, b"", {"Retry-After": formatdate(time.time() + 5, usegmt=True)})
        return Answer(503, b"", {"Retry-After": "rubbish"}) if len(server.asked) == 2 else Breaking(piece=SIZE)(asked)

    with serve(answer) as server:
        assert download(server.url, slept=slept) == CONTENT
    assert 2 < slept[0] <= 5 and slept[1] == limits.RETRY_DELAY_SECONDS


def test_the_pauses_grow() -> None:
    slept: list[float] = []
    with serve(lambda asked: Answer(503)) as server, pytest.raises(Unavailable):
        download(server.url, slept=slept)
    assert slept == [limits.RETRY_DELAY_SECONDS, 2 * limits.RETRY_DELAY_SECONDS]
