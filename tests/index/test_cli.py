from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from index.cli import index_group
from index.owner import owner_name, owner_token
from index.parts import prepare_data
from market.errors import InvalidInput, MarketError, NotFound
from tests.index.builders import START

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, **environ: str) -> Any:
    group = index_group(lambda url, token: None)
    return CliRunner().invoke(group, arguments, env=environ, catch_exceptions=False)


def failing(*arguments: str, **environ: str) -> MarketError:
    with pytest.raises(MarketError) as caught:
        run(*arguments, **environ)
    return caught.value


def test_init_makes_an_index_and_may_be_repeated(tmp_path: Path) -> None:
    data = str(tmp_path / "a" / "b")
    assert json.loads(run("init", "--data", data, "--json").output) == {"data": data, "created": True}
    assert json.loads(run("init", "--data", data, "--json").output) == {"data": data, "created": False}


def test_default_data_is_in_the_home(tmp_path: Path) -> None:
    assert run("init", MARKET_HOME=str(tmp_path)).output == f"made an index in {tmp_path / 'index'}\n"


def test_life_of_a_token(tmp_path: Path) -> None:
    data = str(tmp_path)
    run("init", "--data", data)
    made = json.loads(run("token", "create", "--data", data, "--publisher", "Acme_Team", "--label", "ci", "--expires-in-days", "3", "--json").output)
    assert made["token"].startswith("skm_")
    assert (made["publisher"], made["scopes"], made["label"], made["prefix"]) == ("acme-team", ["publish", "read"], "ci", made["token"][:12])
    assert made["expires_at"] > made["created_at"]
    listed = json.loads(run("token", "list", "--data", data, "--json").output)
    assert [token["prefix"] for token in listed] == [made["prefix"]]
    assert made["token"] not in run("token", "list", "--data", data).output
    assert "acme-team" in run("token", "revoke", made["prefix"], "--data", data).output
    assert json.loads(run("token", "list", "--data", data, "--json").output)[0]["revoked_at"]


def test_created_token_is_alone_on_stdout(tmp_path: Path) -> None:
    run("init", "--data", str(tmp_path))
    made = run("token", "create", "--data", str(tmp_path), "--publisher", "acme", "--scope", "read")
    assert made.stdout.startswith("skm_") and made.stdout.count("\n") == 1
    assert made.stderr == "the token of acme; it isn't shown again\n"


def test_commands_on_no_index_say_so(tmp_path: Path) -> None:
    error = failing("token", "list", "--data", str(tmp_path / "nope"))
    assert isinstance(error, NotFound)
    assert "market index init" in error.hint
    assert not (tmp_path / "nope").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "203.0.113.7"])
def test_address_that_others_reach_needs_a_word_on_anonymous_callers(tmp_path: Path, host: str) -> None:
    error = failing("serve", "--data", str(tmp_path / "data"), "--host", host)
    assert isinstance(error, InvalidInput)
    assert "--anonymous read" in error.hint
    assert not (tmp_path / "data").exists()


def test_bad_port_is_said(tmp_path: Path) -> None:
    assert isinstance(failing("serve", "--data", str(tmp_path), "--port", "70000"), InvalidInput)


def test_owner_keeps_one_token_until_it_is_revoked(tmp_path: Path) -> None:
    database = prepare_data(tmp_path)
    first = owner_token(database, tmp_path, START)
    assert owner_token(database, tmp_path, START) == first
    assert (tmp_path / "owner.token").stat().st_mode & 0o777 == 0o600
    run("token", "revoke", first[:12], "--data", str(tmp_path))
    assert owner_token(database, tmp_path, START) != first
    database.close()


def test_owner_has_a_name_that_may_stand_in_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "Jane Doe")
    assert owner_name() == "local"
    monkeypatch.setenv("LOGNAME", "Jane_Doe")
    assert owner_name() == "jane-doe"
