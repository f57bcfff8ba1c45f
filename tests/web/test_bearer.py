from __future__ import annotations

import pytest

from market.errors import Unauthenticated
from market.web.bearer import MAX_TOKEN_CHARACTERS, read_bearer


def test_no_header_is_nobody() -> None:
    assert read_bearer([(b"accept", b"*/*")]) is None


@pytest.mark.parametrize("value", [b"Bearer skm_a-b_c", b"bearer skm_a-b_c", b"BEARER   skm_a-b_c "])
def test_token_is_read(value: bytes) -> None:
    assert read_bearer([(b"authorization", value)]) == "skm_a-b_c"


@pytest.mark.parametrize(
    "value", [b"", b"Bearer", b"Bearer ", b"Basic dXNlcjp4", b"skm_abc", b"Bearer a b", b"Bearer \xff", b"Bearer " + b"a" * (MAX_TOKEN_CHARACTERS + 1)]
)
def test_anything_else_is_an_error_and_not_nobody(value: bytes) -> None:
    with pytest.raises(Unauthenticated):
        read_bearer([(b"authorization", value)])


def test_two_headers_are_refused() -> None:
    with pytest.raises(Unauthenticated):
        read_bearer([(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")])
