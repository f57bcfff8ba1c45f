"""The host's settings: which source wins, and what is refused with the name of the setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.errors import InvalidInput
from market.host.settings import HostSettings, dump_settings, load_host_settings, parse_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_flag_over_environment_over_file_over_default(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[host]\nport = 1\nintegrity = "warn"\nrescan_seconds = 5\n\n[[index]]\nname = "x"\nurl = "http://x"\n')
    environ = {"MARKET_HOST_PORT": "2", "MARKET_HOST_RESCAN_SECONDS": "7.5", "MARKET_HOST_URL": "http://elsewhere", "MARKET_HOST_TOKEN": "t"}
    settings = load_host_settings("/home", config, environ, {"port": 3, "address": None})
    assert (settings.port, settings.rescan_seconds, settings.integrity, settings.address) == (3, 7.5, "warn", "127.0.0.1")


def test_they_travel_to_the_process_that_runs_the_app() -> None:
    settings = HostSettings("/home", roots=("/a", "/b"), skipped_roots=("x",), login_hash="h")
    assert parse_settings(dump_settings(settings)) == settings


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ("[host]\nport = 70000", {}),
        ("[host]\nport = true", {}),
        ("[host]\nprot = 1", {}),
        ("[host]\nhome = '/etc'", {}),
        ("host = 1", {}),
        ("[host", {}),
        ("", {"MARKET_HOST_PORT": "many"}),
        ("", {"MARKET_HOST_INTEGRITY": "maybe"}),
        ("", {"MARKET_HOST_RESCAN_SECONDS": "0"}),
        ("", {"MARKET_HOST_EXECUTION_THREADS": "-1"}),
        ("", {"MARKET_HOST_STOP_GRACE_SECONDS": "-1"}),
        ("", {"MARKET_HOST_CALL_MEMORY_BYTES": "-1"}),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    with pytest.raises(InvalidInput):
        load_host_settings("/home", config, environ, {})
