"""Which index and host to talk to, and with which token: flag, then environment, then file, then default.

Files: `config.toml` (indexes in order) and `credentials.json` (a token by origin, 0600) in MARKET_HOME.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from market.client.config import AGE_KEY, parse_config, spread_age
from market.client.config import IndexChoice as IndexChoice  # its users find it beside `Settings`
from market.client.limits import MAX_CONFIG_BYTES
from market.client.origins import origin_of, parse_server_url
from market.client.tokens import find_token
from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT_INDEX_URL = "http://127.0.0.1:8750"
DEFAULT_HOST_URL = "http://127.0.0.1:8751"
DEFAULT_INDEX_NAME = "default"


@dataclass(frozen=True, slots=True)
class Settings:
    """What files and environment say, read once. The methods add a command's flags."""

    indexes: tuple[IndexChoice, ...]
    credentials: Mapping[str, str]
    environment: Mapping[str, str]
    configured_age: Mapping[str, str] = field(default_factory=dict)

    def index(self, flag: str = "", token: str = "") -> IndexChoice:
        """Return the one index to publish to or log in to. `flag` is a URL or the name of a configured index."""
        return self._with_token(self._default(flag), token)

    def indexes_for(self, name: str, flag: str = "", token: str = "") -> tuple[IndexChoice, ...]:
        """Return the indexes to ask for a pack, in order.

        Where patterns keep the name on some, only those are asked, whatever the environment says, and a flag that names another one
        is a `Conflict`. Else it is the index that was named, or all without patterns. `token` is for the index that was named, or
        for the first.
        """
        own = tuple(choice for choice in self.indexes if choice.keeps(name))
        if own:
            self.check_kept(name, self._named(flag, "--index").url if flag else own[0].url)
            asked = own
        elif flag or self.environment.get("MARKET_INDEX_URL"):
            asked = (self._default(flag),)
        else:
            asked = tuple(choice for choice in self.indexes if not choice.packs)
        if not asked:
            raise NotFound(
                f"no configured index serves the name {name!r}",
                why="every index in config.toml is limited to other names",
                hint="add an [[index]] without packs, or a pattern that fits; or name one with --index",
            )
        bound = self._default(flag).url
        return tuple(self._with_token(choice, token if choice.url == bound else "") for choice in asked)

    def check_kept(self, name: str, url: str) -> None:
        """Raise `Conflict` where a pattern keeps a name on other indexes than the one at a URL."""
        own = [choice for choice in self.indexes if choice.keeps(name)]
        if own and url not in (choice.url for choice in own):
            names = " and ".join(choice.name for choice in own)
            raise Conflict(
                f"config.toml keeps {name} on the index {names}, and {url} is another one",
                why="a pack of that name from elsewhere may be somebody else's",
                hint=f"use --index {own[0].name}, leave --index out, or change `packs` in config.toml",
                details={"name": name, "kept_on": [choice.url for choice in own], "asked": url},
            )

    def index_at(self, url: str) -> IndexChoice:
        """Return the index of a URL that a receipt names. Nobody asked for it now, so MARKET_TOKEN isn't for it unless it is the first."""
        return self._with_token(self._named(parse_server_url(url), "receipt"), "")

    def minimum_release_age(self, flag: str = "") -> Mapping[str, str]:
        """Return how old a release must be, by class and as text: the flag and the environment hold for all classes."""
        for value in (flag, self.environment.get("MARKET_MINIMUM_RELEASE_AGE", "")):
            if value:
                return spread_age(value, AGE_KEY)
        return self.configured_age

    def host_url(self, flag: str = "") -> str:
        """Return the URL of the host to call."""
        return parse_server_url(flag or self.environment.get("MARKET_HOST_URL", "") or DEFAULT_HOST_URL)

    def host_token(self, url: str, flag: str = "") -> str:
        """Return the token for a host, or empty. MARKET_HOST_TOKEN belongs to the host of MARKET_HOST_URL alone."""
        own = parse_server_url(self.environment.get("MARKET_HOST_URL", "") or DEFAULT_HOST_URL)
        from_environment = self.environment.get("MARKET_HOST_TOKEN", "") if origin_of(own) == origin_of(url) else ""
        return flag or from_environment or self.credentials.get(origin_of(url), "")

    def _default(self, flag: str) -> IndexChoice:
        for value, chosen_by in ((flag, "--index"), (self.environment.get("MARKET_INDEX_URL", ""), "MARKET_INDEX_URL")):
            if value:
                return self._named(value, chosen_by)
        return self.indexes[0]

    def _named(self, value: str, chosen_by: str) -> IndexChoice:
        """Return the index of a name or URL; a configured one brings its token's source."""
        if "://" not in value and all(choice.name != value for choice in self.indexes):
            raise InvalidInput(
                f"there is no index {value!r}",
                why=f"config.toml names {', '.join(choice.name for choice in self.indexes)}",
                hint="give a URL, for example http://127.0.0.1:8750, or `market login URL`",
            )
        url = parse_server_url(value) if "://" in value else ""
        for choice in self.indexes:
            if value == choice.name or url == choice.url:
                return replace(choice, chosen_by=chosen_by)
        return IndexChoice("", url, chosen_by=chosen_by)

    def _with_token(self, choice: IndexChoice, flag: str) -> IndexChoice:
        token = flag or self._environment_token(choice)
        token = token.strip() or find_token(choice.source, choice.url, self.environment, self.credentials)
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
    parsed = parse_config(_load_text(config), config)
    return Settings(
        parsed.indexes or (IndexChoice(DEFAULT_INDEX_NAME, DEFAULT_INDEX_URL),),
        load_credentials(credentials),
        environment,
        parsed.minimum_release_age,
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
