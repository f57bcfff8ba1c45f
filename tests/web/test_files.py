from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.web import files
from market.web.files import ServedFile, send_file
from tests.web.asgi import Answer, ask

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

CONTENT = bytes(range(256)) * 4
ETAG = '"abc"'


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> ASGIApp:
    path = tmp_path_factory.mktemp("files") / "x.zip"
    path.write_bytes(CONTENT)
    return serving(path, len(CONTENT))


def serving(path: Path, size: int) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send_file(scope, send, ServedFile(path, size, ETAG.encode(), b"application/zip"))

    return app


def get(app: ASGIApp, method: str = "GET", **headers: str) -> Answer:
    return ask(app, method, "/x", headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_whole_file_with_its_headers(app: ASGIApp) -> None:
    answer = get(app)
    assert (answer.status, answer.body) == (200, CONTENT)
    assert answer.headers["content-length"] == "1024"
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["etag"] == ETAG
    assert "immutable" in answer.headers["cache-control"]


def test_server_that_can_send_files_is_handed_the_path(app: ASGIApp) -> None:
    answer = ask(app, "GET", "/x", extensions={"http.response.pathsend": {}})
    assert answer.path_sent.endswith("x.zip")
    assert answer.body == CONTENT


def test_head_and_304(app: ASGIApp) -> None:
    assert (get(app, "HEAD").status, get(app, "HEAD").body, get(app, "HEAD").headers["content-length"]) == (200, b"", "1024")
    assert get(app, if_none_match=ETAG).status == 304


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-0", 0, 1), ("bytes=0-99", 0, 100), ("bytes=1000-", 1000, 1024), ("bytes=-24", 1000, 1024), ("bytes=5-99999", 5, 1024),
     ("bytes=-5000", 0, 1024), ("bytes=1023-1023", 1023, 1024)],
)  # fmt: skip
def test_range(app: ASGIApp, asked: str, start: int, end: int) -> None:
    answer = get(app, range=asked)
    assert (answer.status, answer.body) == (206, CONTENT[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/1024"
    assert answer.headers["content-length"] == str(end - start)


@pytest.mark.parametrize("asked", ["bytes=1024-", "bytes=99999-100000", "bytes=-0"])
def test_range_behind_the_end_is_416(app: ASGIApp, asked: str) -> None:
    answer = get(app, range=asked)
    assert (answer.status, answer.body, answer.headers["content-range"]) == (416, b"", "bytes */1024")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("asked", ["bytes=9-5", "bytes=a-b", "bytes=", "bytes=-", "lines=0-1", "bytes=0-1,5-6", "0-1", f"bytes=0-{'9' * 40}"])
def test_range_that_is_none_is_ignored(app: ASGIApp, asked: str) -> None:
    assert get(app, range=asked).status == 200


def test_if_range_decides_whether_the_range_counts(app: ASGIApp) -> None:
    assert get(app, range="bytes=0-1", if_range=ETAG).status == 206
    assert get(app, range="bytes=0-1", if_range='"old"').status == 200
    assert get(app, range="bytes=0-1", if_range=f"W/{ETAG}").status == 200


@given(st.integers(0, 1100), st.integers(0, 1100))
def test_any_range_is_the_slice_that_it_names(app: Any, first: int, last: int) -> None:
    answer = get(app, range=f"bytes={first}-{last}")
    if last < first:
        assert (answer.status, answer.body) == (200, CONTENT)
    elif first >= len(CONTENT):
        assert answer.status == 416
    else:
        assert (answer.status, answer.body) == (206, CONTENT[first : last + 1])


def test_large_file_is_sent_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 7)
    path = tmp_path / "y"
    path.write_bytes(b"0123456789" * 5)
    assert get(serving(path, 50)).body == b"0123456789" * 5
    assert get(serving(path, 50), range="bytes=3-12").body == b"3456789012"


def test_file_that_lost_bytes_breaks_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "z"
    path.write_bytes(b"short")
    with pytest.raises(OSError, match="shorter"):
        get(serving(path, 10))
