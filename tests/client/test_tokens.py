from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from market.client.tokens import find_token, parse_token_source
from market.errors import InvalidInput, Unauthenticated

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://market.example/base"
STORED = {"https://market.example": "skm_stored"}


def find(text: str, **environment: str) -> str:
    return find_token(parse_token_source(text, "the index 'work'"), URL, environment, STORED)


def a_keyring(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    (folder / "keyring.py").write_text(f"def get_password(service, user):\n    {body}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "keyring", raising=False)


def test_each_source_gives_its_token(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("skm_file\n")
    assert find("stored") == "skm_stored"
    assert find("env:WORK", WORK=" skm_env ") == "skm_env"
    assert find(f"file:{tmp_path}/token") == "skm_file"


def test_the_keyring_is_asked_for_the_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_keyring(tmp_path, monkeypatch, "return f'skm_{service}_{user.rpartition(chr(47))[2]}'")
    assert find("keyring") == "skm_market_market.example"
    assert find("keyring:mine") == "skm_mine_market.example"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("env:WORK", "WORK is not set"),
        ("file:/no/such/file", "No such file"),
        ("keyring", "the keyring has none"),
        ("keyring:x", "the keyring has none"),
    ],
)
def test_a_source_without_a_token_stops(text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_keyring(tmp_path, monkeypatch, "return None")
    with pytest.raises(Unauthenticated, match="the index 'work' has no token") as caught:
        find(text)
    assert why in caught.value.why and caught.value.hint


def test_a_keyring_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_keyring(tmp_path, monkeypatch, "raise RuntimeError('it is locked')")
    with pytest.raises(Unauthenticated) as caught:
        find("keyring")
    assert "it is locked" in caught.value.why and "keyring set market https://market.example" in caught.value.hint


def test_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(Unauthenticated, match="no token"):
        find("keyring")


@pytest.mark.parametrize("text", ["skm_secret", "env:", "file", "vault:x", "", "stored:x"])
def test_what_names_no_source_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="names no source of a token"):
        parse_token_source(text, "the index 'work'")
