from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.home import Home, load_home, make_private_directory

if TYPE_CHECKING:
    import pytest


def test_the_environment_names_the_home() -> None:
    home = load_home({"MARKET_HOME": "/srv/market"})
    assert home.path == Path("/srv/market")
    assert {path.parent for path in (home.config, home.credentials, home.skills, home.index, home.audit)} == {home.path}
    assert home.archives == Path("/srv/market/cache/archives")
    assert (home.host_tokens, home.running_hosts) == (Path("/srv/market/host/tokens.json"), Path("/srv/market/hosts"))


def test_a_relative_home_is_made_absolute_and_none_is_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert load_home({"MARKET_HOME": "here"}) == Home(tmp_path / "here")
    assert load_home({}) == Home(Path("/data/market"))


def test_looking_creates_nothing_and_private_is_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert not home.skills.exists()
    make_private_directory(home.archives)
    assert stat.S_IMODE(home.archives.stat().st_mode) == 0o700
