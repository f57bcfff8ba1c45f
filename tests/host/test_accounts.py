"""Tokens: who may use a host, as several processes see it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from market.errors import InvalidInput, NotFound, Unauthenticated
from market.host.accounts import TOKEN_PREFIX, Accounts
from market.model import Role

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "host" / "tokens.json"


def test_a_token_says_who_its_owner_is(path: Path) -> None:
    accounts = Accounts(path)
    token, account = accounts.create(Role.USER, "alice")
    caller = accounts.authenticate(token)
    assert (caller.name, caller.role, caller.user_id) == ("alice", Role.USER, 1)
    assert token.startswith(TOKEN_PREFIX) and token.startswith(account.prefix) and len(token) > 40


def test_the_file_holds_hashes_only_and_is_private(path: Path) -> None:
    token, _ = Accounts(path).create(Role.VIEWER, "bob")
    assert token not in path.read_text() and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_running_host_sees_what_another_process_makes_and_revokes(path: Path) -> None:
    running, command = Accounts(path), Accounts(path)
    token, account = command.create(Role.USER, "alice")
    assert running.authenticate(token).name == "alice"
    command.revoke(account.prefix)
    with pytest.raises(Unauthenticated):
        running.authenticate(token)


def test_ids_are_never_given_again(path: Path) -> None:
    accounts = Accounts(path)
    _, first = accounts.create(Role.USER, "alice")
    accounts.revoke(first.prefix)
    _, second = accounts.create(Role.USER, "bob")
    assert (first.user_id, second.user_id) == (1, 2)
    accounts.revoke(second.prefix)
    assert accounts.create(Role.USER, "carol")[1].user_id == 3


def test_the_admin_is_made_once_and_its_token_kept(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "host-admin.token"
    first, again = Accounts(path).ensure_admin(kept), Accounts(path).ensure_admin(kept)
    assert first == again and first.role is Role.ADMIN and stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert Accounts(path).authenticate(kept.read_text().strip()) == first


def test_a_kept_token_that_was_revoked_is_replaced(path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "host-admin.token"
    accounts = Accounts(path)
    accounts.ensure_admin(kept)
    before = kept.read_text()
    accounts.revoke(accounts.rows()[0].prefix)
    accounts.ensure_admin(kept)
    assert kept.read_text() != before and accounts.authenticate(kept.read_text().strip()).role is Role.ADMIN


def test_what_can_t_be_made_or_revoked(path: Path) -> None:
    accounts = Accounts(path)
    for role, name in ((Role.SYSTEM, "model"), (Role.USER, "  "), (Role.USER, "x" * 65), (Role.USER, "a\nb")):
        with pytest.raises(InvalidInput):
            accounts.create(role, name)
    accounts.create(Role.USER, "alice")
    accounts.create(Role.USER, "bob")
    with pytest.raises(InvalidInput):
        accounts.revoke(TOKEN_PREFIX)
    for prefix in ("", "skh_nothing"):
        with pytest.raises(NotFound):
            accounts.revoke(prefix)
    assert len(accounts.rows()) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"tokens": [{"x": 1}], "highest_id": 0})])
def test_a_spoilt_file_stops_the_host_and_names_it(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"tokens\.json"):
        Accounts(path).authenticate("skh_x")
