"""What `config.toml` says: the indexes in their order, and how old a release must be. Text in, values out; an odd one names the file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from market.client.origins import parse_server_url
from market.client.tokens import STORED, TokenSource, parse_token_source
from market.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

AGE_KEY = "minimum-release-age"
CLASSES = ("safe", "mutating", "dangerous")
INDEX_KEYS = frozenset({"name", "url", "token", "packs"})


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """An index to talk to, its token (empty for none), and which setting chose it.

    `packs` are patterns of names that live only there.
    """

    name: str
    url: str
    token: str = ""
    chosen_by: str = "default"
    packs: tuple[str, ...] = ()
    source: TokenSource = STORED

    def keeps(self, name: str) -> bool:
        """Whether a pack of this name is asked for here and nowhere else."""
        return any(fnmatchcase(name, pattern) for pattern in self.packs)


@dataclass(frozen=True, slots=True)
class Config:
    """The file's content. `minimum_release_age` is by class, as text."""

    indexes: tuple[IndexChoice, ...] = ()
    minimum_release_age: Mapping[str, str] = field(default_factory=dict)


def parse_config(text: str, path: Path) -> Config:
    """Read the file's text; raises `InvalidInput` with the file's name where it isn't what it should be.

    An unknown key in an index is an error: a misspelt `packs` would silently give away the names that it should keep.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is not TOML", why=str(error), hint="correct that line") from None
    rows = values.get("index", [])
    if not isinstance(rows, list):
        raise InvalidInput(f"{path}: write [[index]] with name and url", why="'index' is not a list of tables")
    return Config(
        tuple(_parse_index(row, path) for row in rows),
        spread_age(values.get(AGE_KEY, {}), f"{path}: {AGE_KEY}"),
    )


def spread_age(value: object, where: str) -> dict[str, str]:
    """Return ages by class: one text holds for all of them. What the texts mean is read where they are used."""
    if isinstance(value, str):
        return dict.fromkeys(CLASSES, value)
    if (
        isinstance(value, Mapping)
        and set(value) <= set(CLASSES)
        and all(isinstance(age, str) for age in value.values())
    ):
        return dict(value)
    raise InvalidInput(
        f"{where} can't be read",
        why=f"it reads {str(value)[:200]}",
        hint='write "24h", or a table of safe, mutating and dangerous',
    )


def _parse_index(row: object, path: Path) -> IndexChoice:
    match row:
        case {"name": str(name), "url": str(url), **rest} if set(rest) <= INDEX_KEYS:
            packs, token = rest.get("packs", []), rest.get("token", "stored")
            if isinstance(packs, list) and all(isinstance(one, str) for one in packs) and isinstance(token, str):
                source = parse_token_source(token, f"{path}: the index {name!r}")
                return IndexChoice(name, parse_server_url(url), "", str(path), _parse_patterns(packs, path), source)
    raise InvalidInput(
        f"{path}: an [[index]] needs name and url, and may have packs and token",
        why=f"one reads {str(row)[:200]}",
        hint="packs is a list of patterns such as acme-*; token is env:NAME, file:PATH, keyring or stored",
    )


def _parse_patterns(packs: list[str], path: Path) -> tuple[str, ...]:
    """Return patterns in the spelling of pack names, so that `Acme_*` keeps what it seems to keep."""
    patterns = tuple(pattern.strip().lower().replace("_", "-").replace(".", "-") for pattern in packs)
    if not all(patterns):
        raise InvalidInput(f"{path}: a pattern in packs is empty", hint="write a pattern such as acme-*")
    return patterns
