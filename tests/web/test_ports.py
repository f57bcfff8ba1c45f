from __future__ import annotations

import socket

import pytest

from market.errors import InvalidInput, Unavailable
from market.web.ports import hold_port, is_loopback, resolve_address, url_of


def test_held_port_is_real_and_nobody_elses() -> None:
    with hold_port("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        assert port > 0
        with pytest.raises(Unavailable, match=f"port {port} of 127.0.0.1 is taken"):
            hold_port("127.0.0.1", port)


def test_listener_that_shares_its_port_counts_as_taken_too() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(Unavailable) as caught:
            hold_port("127.0.0.1", other.getsockname()[1])
        assert "--port" in caught.value.hint


def test_server_may_join_the_held_port() -> None:
    with hold_port("127.0.0.1", 0) as held, socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        server.bind(held.getsockname())
        server.listen()


def test_port_is_free_again_when_let_go() -> None:
    with hold_port("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
    hold_port("127.0.0.1", port).close()


def test_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InvalidInput, match="can't be bound"):
        hold_port("203.0.113.7", 0)


def test_names_are_resolved_to_addresses() -> None:
    assert resolve_address("127.0.0.1") == "127.0.0.1"
    assert is_loopback(resolve_address("localhost"))
    with pytest.raises(InvalidInput, match="can't be resolved"):
        resolve_address("no-such-host.invalid")


@pytest.mark.parametrize(("address", "is_own"), [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False)])
def test_loopback(address: str, is_own: bool) -> None:
    assert is_loopback(address) is is_own


@pytest.mark.parametrize(
    ("address", "url"),
    [("127.0.0.1", "http://127.0.0.1:80"), ("0.0.0.0", "http://127.0.0.1:80"), ("::", "http://[::1]:80"), ("10.1.2.3", "http://10.1.2.3:80")],
)
def test_url_is_one_that_this_machine_can_open(address: str, url: str) -> None:
    assert url_of(address, 80) == url
