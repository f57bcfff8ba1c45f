from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.client.origins import is_loopback, origin_of, parse_server_url
from market.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8750", "http://127.0.0.1:8750"),
        (" HTTPS://Index.Example/market/ ", "https://index.example/market"),
        ("http://[::1]:8750/", "http://[::1]:8750"),
    ],
)
def test_a_url_has_one_spelling(text: str, url: str) -> None:
    assert parse_server_url(text) == url
    assert parse_server_url(url) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "index",
        "127.0.0.1:8750",
        "ftp://x",
        "http://",
        "http://u:p@x",
        "http://x?a=1",
        "http://x#f",
        "http://x:99999",
        "http://[::1",
    ],
)
def test_what_is_no_url_says_so(text: str) -> None:
    with pytest.raises(InvalidInput, match="not the URL") as caught:
        parse_server_url(text)
    assert caught.value.hint


def test_an_origin_leaves_out_the_default_port_and_the_path() -> None:
    assert origin_of("https://x:443/a") == origin_of("https://x") == "https://x"
    assert origin_of("http://x:443") != origin_of("https://x")
    assert origin_of("http://x:80/a?b") == "http://x"


@pytest.mark.parametrize(
    ("url", "expected"),
    [("http://127.9.9.9", True), ("http://[::1]", True), ("http://localhost:1", True), ("http://10.0.0.1", False)],
)
def test_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_invalid_input(text: str) -> None:
    try:
        url = parse_server_url(text)
    except InvalidInput:
        return
    assert parse_server_url(url) == url
