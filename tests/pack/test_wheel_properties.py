"""Whatever is changed in a wheel's bytes: it is refused, or its tree is the same. Nothing else is raised."""

from __future__ import annotations

import io

from hypothesis import given, settings
from hypothesis import strategies as st

from market.errors import MarketError
from market.trust.verify import verify_wheel
from tests.wheels import a_code_wheel

WHEEL = a_code_wheel(requires=("pluggy>=1",))
DIGEST = verify_wheel(io.BytesIO(WHEEL)).tree_digest


def same_or_refused(content: bytes) -> None:
    try:
        verified = verify_wheel(io.BytesIO(content))
    except MarketError:
        return
    assert verified.tree_digest == DIGEST


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(WHEEL) - 1), st.integers(1, 255))
def test_a_changed_byte(at: int, change: int) -> None:
    content = bytearray(WHEEL)
    content[at] ^= change
    same_or_refused(bytes(content))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(WHEEL)), st.integers(0, 64), st.binary(max_size=64))
def test_bytes_cut_out_or_put_in(at: int, length: int, more: bytes) -> None:
    same_or_refused(WHEEL[:at] + more + WHEEL[at + length :])
