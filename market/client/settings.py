"""Which index and host to talk to, and with which token: flag, then environment, then file, then default.

Files: `config.toml` (indexes in order) and `credentials.json` (a token by origin, 0600) in MARKET_HOME.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from market.client.limits import MAX_CONFIG_BYTES
from market.client.origins import origin_of, parse_server_url
from market.disk.failures import disk_failures
from market.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_INDEX_URL = "http://127.0.0.1:8750"
DEFAULT_HOST_URL = "http://127.0.0.1:8751"
DEFAULT_INDEX_NAME = "default"


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """An index to talk to, its token (empty for none), and which setting chose it. `names` are patterns of packs that live only there."""

    name: str
    url: str
    token: str = ""
    chosen_by: str = "default"
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What files and environment say, read once. The methods add a command's flags."""

    indexes: tuple[IndexChoice, ...]
    credentials: Mapping[str, str]
    environment: Mapping[str, str]

    def index(self, flag: str = "", token: str = "") -> IndexChoice:
        """Return the one index to publish to or log in to. `flag` is a URL or the name of a configured index."""
        for value, chosen_by in ((flag, "--index"), (self.environment.get("MARKET_INDEX_URL", ""), "MARKET_INDEX_URL")):
            if value:
                return self._with_token(self._named(value, chosen_by), token)
        return self._with_token(self.indexes[0], token)

    def indexes_for(self, name: str, flag: str = "", token: str = "") -> tuple[IndexChoice, ...]:
        """Return the indexes to ask for a pack, in order: only those whose patterns name it, else all that have no patterns."""
        if flag or self.environment.get("MARKET_INDEX_URL") or len(self.indexes) == 1:
            return (self.index(flag, token),)
        own = tuple(choice for choice in self.indexes if any(fnmatchcase(name, pattern) for pattern in choice.names))
        asked = own or tuple(choice for choice in self.indexes if not choice.names)
        if not asked:
            raise NotFound(
                f"no configured index serves the name {name!r}",
                why="every index in config.toml is limited to other names",
            )
        return tuple(self._with_token(choice, token if len(asked) == 1 else "") for choice in asked)

    def index_at(self, url: str) -> IndexChoice:
        """Return the index of a URL that a receipt names. Nobody asked for it now, so MARKET_TOKEN isn't for it unless it is the first."""
        return self._with_token(IndexChoice("", parse_server_url(url), chosen_by="receipt"), "")

    def host_url(self, flag: str = "") -> str:
        """Return the URL of the host to call."""
        return parse_server_url(flag or self.environment.get("MARKET_HOST_URL", "") or DEFAULT_HOST_URL)

    def host_token(self, url: str, flag: str = "") -> str:
        """Return the token for a host, or empty. MARKET_HOST_TOKEN belongs to the host of MARKET_HOST_URL alone."""
        own = parse_server_url(self.environment.get("MARKET_HOST_URL", "") or DEFAULT_HOST_URL)
        from_environment = self.environment.get("MARKET_HOST_TOKEN", "") if origin_of(own) == origin_of(url) else ""
        return flag or from_environment or self.credentials.get(origin_of(url), "")

    def _named(self, value: str, chosen_by: str) -> IndexChoice:
        for choice in self.indexes:
            if value == choice.name:
                return IndexChoice(choice.name, choice.url, chosen_by=chosen_by)
        if "://" not in value:
            raise InvalidInput(
                f"there is no index {value!r}",
                why=f"config.toml names {', '.join(choice.name for choice in self.indexes)}",
                hint="give a URL, for example http://127.0.0.1:8750, or `market login URL`",
            )
        return IndexChoice("", parse_server_url(value), chosen_by=chosen_by)

    def _with_token(self, choice: IndexChoice, flag: str) -> IndexChoice:
        stored = self.credentials.get(origin_of(choice.url), "")
        token = (flag or self._environment_token(choice) or stored).strip()
        if not token.isascii() or any(character.isspace() for character in token):
            raise InvalidInput(
                "the token holds a blank or a character outside ASCII", hint="copy it again; it starts with skm_"
            )
        return replace(choice, token=token)

    def _environment_token(self, choice: IndexChoice) -> str:
        """Return MARKET_TOKEN for the index it belongs to: that of MARKET_INDEX_URL, else the one asked for, else the first."""
        bound = self.environment.get("MARKET_INDEX_URL", "")
        is_asked_for = choice.chosen_by == "--index" or choice.url == self.indexes[0].url
        is_own = origin_of(bound) == origin_of(choice.url) if bound else is_asked_for
        return self.environment.get("MARKET_TOKEN", "") if is_own else ""


def load_settings(config: Path, credentials: Path, environment: Mapping[str, str]) -> Settings:
    """Read both files; missing ones count as empty. Raises `InvalidInput` with the file's name where one can't be read as what it is."""
    return Settings(
        _parse_indexes(_load_text(config), config) or (IndexChoice(DEFAULT_INDEX_NAME, DEFAULT_INDEX_URL),),
        load_credentials(credentials),
        environment,
    )


def load_credentials(path: Path) -> dict[str, str]:
    """Return the stored tokens by origin."""
    text = _load_text(path)
    try:
        values = json.loads(text) if text else {}
    except ValueError as error:
        raise InvalidInput(f"{path} can't be read", why=str(error), hint="delete it and `market login` again") from None
    if not isinstance(values, dict) or not all(isinstance(token, str) for token in values.values()):
        raise InvalidInput(f"{path} is not an object of tokens by origin", hint="delete it and `market login` again")
    return values


def _load_text(path: Path) -> str:
    with disk_failures("read", path):
        if not path.exists():
            return ""
        with path.open("rb") as stream:
            content = stream.read(MAX_CONFIG_BYTES + 1)
    if len(content) > MAX_CONFIG_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_CONFIG_BYTES} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", why=str(error)) from None


def _parse_indexes(text: str, path: Path) -> tuple[IndexChoice, ...]:
    try:
        rows = tomllib.loads(text).get("index", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not TOML", why=str(error), hint="correct that line") from None
    if not isinstance(rows, list):
        raise InvalidInput(f"{path}: write [[index]] with name and url", why="'index' is not a list of tables")
    return tuple(_parse_index(row, path) for row in rows)


def _parse_index(row: object, path: Path) -> IndexChoice:
    match row:
        case {"name": str(name), "url": str(url), **rest}:
            names = rest.get("names", [])
            if isinstance(names, list) and all(isinstance(pattern, str) for pattern in names):
                return IndexChoice(name, parse_server_url(url), chosen_by=str(path), names=tuple(names))
    raise InvalidInput(
        f"{path}: an [[index]] needs name and url, and may have names", why=f"one reads {str(row)[:200]}"
    )
