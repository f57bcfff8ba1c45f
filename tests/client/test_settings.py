from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from market.client.remember import forget_token, remember_index
from market.client.settings import DEFAULT_INDEX_URL, Settings, load_settings
from market.disk.home import Home
from market.errors import Conflict, InvalidInput, NotFound, Unauthenticated

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "https://market.example"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def settings(home: Home, **environment: str) -> Settings:
    return load_settings(home.config, home.credentials, environment)


def write_config(home: Home, text: str) -> None:
    home.path.mkdir(exist_ok=True)
    home.config.write_text(text)


def test_an_empty_home_has_the_default(home: Home) -> None:
    choice = settings(home).index()
    assert (choice.url, choice.token, choice.chosen_by) == (DEFAULT_INDEX_URL, "", "default")
    assert settings(home).host_url() == "http://127.0.0.1:8751"
    assert not home.path.exists()


def test_flag_wins_over_environment_over_file(home: Home) -> None:
    write_config(home, f'[[index]]\nname = "work"\nurl = "{OTHER}/"\n')
    assert settings(home).index().url == OTHER
    assert settings(home, MARKET_INDEX_URL="http://env").index().url == "http://env"
    assert settings(home, MARKET_INDEX_URL="http://env").index("http://flag").url == "http://flag"
    assert settings(home, MARKET_INDEX_URL="http://env").index("work").url == OTHER


def test_an_index_of_a_name_that_nobody_configured(home: Home) -> None:
    with pytest.raises(InvalidInput, match="no index 'work'"):
        settings(home).index("work")


def test_what_was_remembered_is_used(home: Home) -> None:
    remember_index(home, DEFAULT_INDEX_URL, "skm_own")
    assert not home.config.exists()
    assert settings(home).index().token == "skm_own"
    assert stat.S_IMODE(home.credentials.stat().st_mode) == 0o600
    remember_index(home, OTHER, "skm_other")
    assert settings(home).index().url == OTHER
    assert settings(home).index(OTHER).token == "skm_other"
    assert settings(home).index(DEFAULT_INDEX_URL).token == "skm_own"


def test_a_server_of_ones_own_that_comes_back_on_another_port_replaces_itself(home: Home) -> None:
    remember_index(home, "http://127.0.0.1:4001", "skm_1", name="local")
    remember_index(home, "http://127.0.0.1:4002", "skm_2", name="local")
    choice = settings(home).index()
    assert (choice.name, choice.url, choice.token) == ("local", "http://127.0.0.1:4002", "skm_2")
    assert len(settings(home).indexes) == 1


def test_remembering_keeps_what_people_wrote(home: Home) -> None:
    write_config(home, '# mine\n[[index]]\nname = "work"\nurl = "https://work.example"  # the company\n')
    remember_index(home, OTHER, "skm_x")
    assert "# mine" in home.config.read_text() and "# the company" in home.config.read_text()
    assert [choice.url for choice in settings(home).indexes] == ["https://work.example", OTHER]


def test_forgetting(home: Home) -> None:
    assert forget_token(home, OTHER) is False
    remember_index(home, OTHER, "skm_x")
    assert forget_token(home, f"{OTHER}/") is True
    assert settings(home).index(OTHER).token == ""


def test_a_stored_token_is_for_its_origin_only(home: Home) -> None:
    remember_index(home, OTHER, "skm_x")
    assert settings(home).index("https://market.example:444").token == ""
    assert settings(home).index("http://market.example").token == ""
    assert settings(home).index("https://market.example:443/base").token == "skm_x"


def test_the_environment_s_token_is_bound_to_the_environment_s_index(home: Home) -> None:
    bound = settings(home, MARKET_TOKEN="skm_env", MARKET_INDEX_URL=OTHER)
    assert bound.index().token == "skm_env"
    assert bound.index("http://elsewhere").token == ""
    free = settings(home, MARKET_TOKEN="skm_env")
    assert free.index().token == free.index("http://asked-for").token == "skm_env"


def test_the_environment_s_token_does_not_go_to_every_configured_index(home: Home) -> None:
    write_config(home, '[[index]]\nname = "a"\nurl = "http://a"\n[[index]]\nname = "b"\nurl = "http://b"\n')
    assert [choice.token for choice in settings(home, MARKET_TOKEN="skm_env").indexes_for("x")] == ["skm_env", ""]


def test_the_environment_s_token_does_not_go_to_the_index_that_a_receipt_names(home: Home) -> None:
    assert settings(home, MARKET_TOKEN="skm_env").index_at("http://elsewhere").token == ""
    assert settings(home, MARKET_TOKEN="skm_env").index_at(DEFAULT_INDEX_URL).token == "skm_env"


def test_a_pattern_keeps_a_name_on_its_index(home: Home) -> None:
    write_config(
        home,
        '[[index]]\nname = "public"\nurl = "http://public"\n[[index]]\nname = "work"\nurl = "http://office"\npacks = ["acme-*"]\n',
    )
    found = settings(home)
    assert [choice.name for choice in found.indexes_for("acme-tools")] == ["work"]
    assert [choice.name for choice in found.indexes_for("other")] == ["public"]
    assert [choice.url for choice in found.indexes_for("other", "http://flag")] == ["http://flag"]
    assert [choice.name for choice in found.indexes_for("acme-tools", "work")] == ["work"]
    assert [choice.name for choice in found.indexes_for("acme-tools", "http://office/")] == ["work"]
    assert [choice.name for choice in settings(home, MARKET_INDEX_URL="http://env").indexes_for("acme-tools")] == [
        "work"
    ]
    assert [choice.url for choice in settings(home, MARKET_INDEX_URL="http://env").indexes_for("other")] == [
        "http://env"
    ]
    with pytest.raises(Conflict, match="keeps acme-tools on the index work"):
        found.indexes_for("acme-tools", "http://flag")
    with pytest.raises(Conflict, match="http://public is another one"):
        found.check_kept("acme-tools", "http://public")
    found.check_kept("acme-tools", "http://office")
    found.check_kept("other", "http://anywhere")


def test_a_pattern_is_read_in_the_spelling_of_names(home: Home) -> None:
    write_config(home, '[[index]]\nname = "work"\nurl = "http://office"\npacks = ["Acme_*", "one.tool"]\n')
    assert [settings(home).indexes[0].keeps(name) for name in ("acme-x", "one-tool", "acme", "other")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_token_that_was_typed_goes_to_the_named_index_or_the_first(home: Home) -> None:
    write_config(
        home,
        '[[index]]\nname = "public"\nurl = "http://public"\n[[index]]\nname = "work"\nurl = "http://office"\npacks = ["acme-*"]\n',
    )
    found = settings(home)
    assert [choice.token for choice in found.indexes_for("other", "", "skm_typed")] == ["skm_typed"]
    assert [choice.token for choice in found.indexes_for("acme-tools", "", "skm_typed")] == [""]
    assert [choice.token for choice in found.indexes_for("acme-tools", "work", "skm_typed")] == ["skm_typed"]


def test_an_index_brings_its_own_token_also_by_its_url(home: Home) -> None:
    write_config(home, '[[index]]\nname = "work"\nurl = "http://office"\ntoken = "env:WORK_TOKEN"\n')
    found = settings(home, WORK_TOKEN="skm_work")
    assert found.index("http://office/").token == found.index_at("http://office").token == "skm_work"
    assert found.index("http://office", "skm_typed").token == "skm_typed"
    assert found.index("http://elsewhere").token == ""
    with pytest.raises(Unauthenticated, match="the index 'work' has no token") as caught:
        settings(home).indexes_for("x")
    assert caught.value.why == "the variable WORK_TOKEN is not set"


def test_how_old_a_release_must_be(home: Home) -> None:
    assert settings(home).minimum_release_age() == {}
    write_config(home, 'minimum-release-age = "24h"\n')
    assert settings(home).minimum_release_age() == {"safe": "24h", "mutating": "24h", "dangerous": "24h"}
    write_config(home, '[minimum-release-age]\nsafe = "24h"\ndangerous = "7d"\n')
    assert settings(home).minimum_release_age() == {"safe": "24h", "dangerous": "7d"}
    assert settings(home, MARKET_MINIMUM_RELEASE_AGE="1h").minimum_release_age()["mutating"] == "1h"
    assert settings(home, MARKET_MINIMUM_RELEASE_AGE="1h").minimum_release_age("0")["safe"] == "0"


def test_a_name_that_no_index_serves(home: Home) -> None:
    write_config(
        home,
        '[[index]]\nname = "a"\nurl = "http://a"\npacks = ["a-*"]\n[[index]]\nname = "b"\nurl = "http://b"\npacks = ["b-*"]\n',
    )
    with pytest.raises(NotFound, match="no configured index"):
        settings(home).indexes_for("c")


@pytest.mark.parametrize(
    "text",
    [
        "[[index]",
        "index = 1",
        '[[index]]\nname = "x"',
        '[[index]]\nname = "x"\nurl = "nonsense"',
        '[[index]]\nname="x"\nurl="http://x"\npacks = "a"',
        '[[index]]\nname="x"\nurl="http://x"\npacks = [" "]',
        '[[index]]\nname="x"\nurl="http://x"\npack = ["a"]',
        '[[index]]\nname="x"\nurl="http://x"\ntoken = "skm_secret"',
        '[[index]]\nname="x"\nurl="http://x"\ntoken = "env:"',
        '[[index]]\nname="x"\nurl="http://x"\ntoken = 1',
        "minimum-release-age = 24",
        'minimum-release-age = {careful = "1h"}',
    ],
)
def test_a_config_that_can_t_be_read_names_itself(home: Home, text: str) -> None:
    write_config(home, text)
    with pytest.raises(InvalidInput) as caught:
        settings(home)
    assert str(home.config) in caught.value.message or "not the URL" in caught.value.message


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"a": 1}', b"\xff"])
def test_credentials_that_can_t_be_read_name_themselves(home: Home, content: bytes) -> None:
    home.path.mkdir()
    home.credentials.write_bytes(content)
    with pytest.raises(InvalidInput, match="credentials"):
        settings(home)


@pytest.mark.parametrize("token", ["skm_a b", "skm_\u00e4", "skm_a\r\nX-Evil: 1"])
def test_a_token_that_would_break_a_header_is_refused(home: Home, token: str) -> None:
    with pytest.raises(InvalidInput, match="token"):
        settings(home).index("", token)
