"""Browser sessions: a link that works once, an end, and requests that other sites' pages make."""

from __future__ import annotations

import pytest

from market.errors import Refused, Unauthenticated
from market.host.sessions import SESSION_SECONDS, Sessions, check_same_origin, hash_secret, new_secret
from market.model import Caller, Role

ALICE = Caller(1, "alice", Role.ADMIN)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_login_link_works_once() -> None:
    sessions, secret = Sessions(Clock()), new_secret()
    sessions.offer_login(ALICE, hash_secret(secret))
    cookie = sessions.redeem(secret)
    assert sessions.find(cookie) == ALICE
    for used in (secret, "", "guess"):
        with pytest.raises(Unauthenticated):
            sessions.redeem(used)


def test_a_session_ends_by_itself_and_by_hand() -> None:
    clock = Clock()
    sessions = Sessions(clock)
    first, second = sessions.open(ALICE), sessions.open(ALICE)
    sessions.close(first)
    assert sessions.find(first) is None and sessions.find(second) == ALICE
    clock.now = SESSION_SECONDS + 1.0
    assert sessions.find(second) is None and sessions.find("") is None


@pytest.mark.parametrize(
    ("headers", "is_fine"),
    [
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "same-site", "origin": "http://127.0.0.1:1", "host": "127.0.0.1:1"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "none"}, False),
        ({"origin": "http://127.0.0.1:8751", "host": "127.0.0.1:8751"}, True),
        ({"origin": "http://127.0.0.1:9999", "host": "127.0.0.1:8751"}, False),
        ({"origin": "null", "host": "127.0.0.1:8751"}, False),
        ({"host": "127.0.0.1:8751"}, False),
    ],
)
def test_a_change_by_cookie_must_come_from_our_own_page(headers: dict[str, str], is_fine: bool) -> None:
    check_same_origin("GET", headers)
    if is_fine:
        check_same_origin("POST", headers)
    else:
        with pytest.raises(Refused):
            check_same_origin("POST", headers)
