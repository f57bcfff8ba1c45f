"""login, logout, whoami, and the servers' commands without their extra."""

from __future__ import annotations

import stat
import sys
from typing import TYPE_CHECKING

import pytest

from market.cli.servers import load_server
from market.client.settings import load_settings
from market.errors import Unavailable
from tests.fake_index import TOKEN, URL

if TYPE_CHECKING:
    from tests.cli.shell import Shell


@pytest.fixture
def stranger(shell: Shell) -> Shell:
    shell.environ.update({"MARKET_TOKEN": "", "MARKET_INDEX_URL": ""})
    return shell


def test_login_checks_and_stores_a_token(stranger: Shell) -> None:
    assert f"logged in to {URL} as alice" in stranger("login", URL, "--token", TOKEN).out
    assert stat.S_IMODE(stranger.home.credentials.stat().st_mode) == 0o600
    assert stranger("whoami", "--json").json["publisher"] == "alice"
    assert f"alice on {URL}" in stranger("whoami").out
    assert f"forgot the token for {URL}" in stranger("logout").out
    assert "no token was stored" in stranger("logout").out
    assert "market login" in stranger("whoami", expect=6).err


def test_a_token_is_read_from_stdin(stranger: Shell) -> None:
    stranger("login", URL, "--token", "-", stdin=f"{TOKEN}\n".encode())
    assert load_settings(stranger.home.config, stranger.home.credentials, {}).index().token == TOKEN


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([URL], 2),
        ([URL, "--token", "-"], 2),
        ([URL, "--token", "skm_wrong"], 6),
        (["nonsense", "--token", "x"], 2),
        (["ftp://x", "--token", "x"], 2),
    ],
)
def test_a_login_that_can_t_be_stores_nothing(stranger: Shell, arguments: list[str], code: int) -> None:
    assert "hint: " in stranger("login", *arguments, expect=code).err
    assert stranger.everything() == {}


def test_a_token_is_never_printed(stranger: Shell) -> None:
    secret = "skm_0123456789abcdef"
    stranger.index.tokens[secret] = "alice"
    ran = stranger("login", URL, "--token", secret)
    assert secret not in ran.out + ran.err + stranger("whoami", "--json").out


def test_a_server_without_its_extra_says_which_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    for name in [
        name for name in sys.modules if name.startswith(("index.", "market.web", "market.host", "starlette."))
    ]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(Unavailable) as caught:
        load_server("index.app", "index")
    assert "skill-market[index]" in caught.value.hint


def test_a_fault_of_ours_is_not_taken_for_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError):
        load_server("market.nowhere", "host")
