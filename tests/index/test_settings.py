from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from index.settings import Anonymous, IndexSettings, load_settings, parse_settings
from market.errors import InvalidInput

DEFAULT = Path("/home/x/index")


def test_defaults() -> None:
    settings, is_anonymous_given = load_settings({}, DEFAULT)
    assert settings == IndexSettings(DEFAULT, "127.0.0.1", 8750, Anonymous.READ, 1)
    assert not is_anonymous_given


def test_flag_stands_over_environment_and_that_over_the_default() -> None:
    environ = {"MARKET_INDEX_SERVER_PORT": "1", "MARKET_INDEX_SERVER_HOST": "::1", "MARKET_INDEX_SERVER_ANONYMOUS": "none"}
    settings, is_anonymous_given = load_settings(environ, DEFAULT, port="0", host=None, data=Path("rel"))
    assert (settings.port, settings.host, settings.anonymous, is_anonymous_given) == (0, "::1", Anonymous.NONE, True)
    assert settings.data == Path.cwd() / "rel"


@pytest.mark.parametrize(("name", "value"), [("port", "x"), ("port", "65536"), ("port", "-1"), ("workers", "0"), ("anonymous", "write"), ("log_level", "loud")])
def test_bad_value_names_the_flag_and_the_variable(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        load_settings({f"MARKET_INDEX_SERVER_{name.upper()}": value}, DEFAULT)
    assert f"MARKET_INDEX_SERVER_{name.upper()}" in caught.value.hint


def test_settings_travel_as_json() -> None:
    settings = IndexSettings(Path("/x"), port=3, anonymous=Anonymous.NONE, workers=2, log_level="DEBUG")
    assert parse_settings(settings.dump()) == settings
