"""Where Market keeps what belongs to this user: every path below `MARKET_HOME` in one value. Roots are `market.installer.root`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from market.disk.failures import disk_failures

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME_VARIABLE = "MARKET_HOME"


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one user's settings, cache, default root, index and audit log. Nothing here is created by looking."""

    path: Path

    @property
    def config(self) -> Path:
        """The indexes that this user knows: `[[index]]` with name and url."""
        return self.path / "config.toml"

    @property
    def credentials(self) -> Path:
        """Tokens by origin; mode 0600."""
        return self.path / "credentials.json"

    @property
    def archives(self) -> Path:
        """Downloaded archives by digest."""
        return self.path / "cache" / "archives"

    @property
    def newest(self) -> Path:
        """The newest releases that were seen on indexes: a memory, which may be deleted."""
        return self.path / "cache" / "newest.json"

    @property
    def skills(self) -> Path:
        """The root that install and host use when none is named."""
        return self.path / "skills"

    @property
    def index(self) -> Path:
        """The data of `market index serve`."""
        return self.path / "index"

    @property
    def host_admin_token(self) -> Path:
        """The token with which this user's commands reach this user's host; mode 0600."""
        return self.path / "host-admin.token"

    @property
    def host_tokens(self) -> Path:
        """The hashed tokens that the host accepts; mode 0600."""
        return self.path / "host" / "tokens.json"

    @property
    def running_hosts(self) -> Path:
        """One file a running host, `PID.json`."""
        return self.path / "hosts"

    @property
    def plugins(self) -> Path:
        """Which plugins are switched off."""
        return self.path / "plugins.json"

    @property
    def audit(self) -> Path:
        """The audit log's database."""
        return self.path / "audit.db"


def load_home(environ: Mapping[str, str]) -> Home:
    """Return the home that `MARKET_HOME` names, or the one in the user's data folder (XDG). A relative value is made absolute."""
    named = environ.get(HOME_VARIABLE, "")
    chosen = named or platformdirs.user_data_dir("market", appauthor=False)
    return Home(Path(os.path.abspath(Path(chosen).expanduser())))  # noqa: PTH100 - resolve() would follow links


def make_private_directory(path: Path) -> None:
    """Create a directory that only its owner may enter, with its parents; one that exists is left as it is."""
    with disk_failures("create", path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
