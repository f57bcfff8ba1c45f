"""Where an index's token comes from: the stored credentials, an environment variable, a file, or the system's keyring."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.client.limits import MAX_TOKEN_BYTES
from market.client.origins import origin_of
from market.disk.failures import disk_failures
from market.errors import InvalidInput, MarketError, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYRING_SERVICE = "market"
KINDS = ("env", "file", "keyring", "stored")


@dataclass(frozen=True, slots=True)
class TokenSource:
    """One place for a token. `value` is a variable's name, a path or a keyring's service."""

    kind: str
    value: str = ""
    where: str = ""


STORED = TokenSource("stored")


def parse_token_source(text: str, where: str) -> TokenSource:
    """Parse `env:NAME`, `file:PATH`, `keyring`, `keyring:SERVICE` or `stored`. A token itself is refused: the file isn't private."""
    kind, _, value = text.partition(":")
    if kind not in KINDS or ((kind in ("env", "file")) != bool(value) and kind != "keyring"):
        raise InvalidInput(
            f"{where} names no source of a token",
            why="token itself is never written there" if text.startswith("skm_") else f"it reads {text[:40]!r}",
            hint="write env:NAME, file:PATH, keyring or stored; `market login` stores one",
        )
    return TokenSource(kind, value, where)


def find_token(source: TokenSource, url: str, environment: Mapping[str, str], credentials: Mapping[str, str]) -> str:
    """Return the token of an index, empty where none is stored.

    A source that is named but holds none raises `Unauthenticated`: without the token a private index answers "not found", and the
    next index would be asked for the name.
    """
    if source.kind == "env":
        return _demand(environment.get(source.value, ""), source, f"the variable {source.value} is not set")
    if source.kind == "file":
        return _demand(_load_file(source), source, f"{source.value} is empty")
    if source.kind == "keyring":
        return _demand(_ask_keyring(source, origin_of(url)), source, "the keyring has none for it")
    return credentials.get(origin_of(url), "")


def _demand(token: str, source: TokenSource, why: str) -> str:
    if not token.strip():
        raise Unauthenticated(
            f"{source.where} has no token",
            why=why,
            hint="provide it, or take `token` out of config.toml to ask without one",
        )
    return token.strip()


def _load_file(source: TokenSource) -> str:
    path = Path(source.value).expanduser()
    try:
        with disk_failures("read the token in", path), path.open("rb") as stream:
            return stream.read(MAX_TOKEN_BYTES).decode("ascii", "replace")
    except MarketError as error:
        raise Unauthenticated(
            f"{source.where} has no token", why=f"{error.message}: {error.why}", hint=error.hint
        ) from None


def _ask_keyring(source: TokenSource, origin: str) -> str:
    if not _has_keyring():
        raise Unauthenticated(
            f"{source.where} has no token",
            why="the Python package keyring isn't installed here",
            hint="install it beside market, or use env:NAME or file:PATH",
        )
    service = source.value or KEYRING_SERVICE
    try:
        return importlib.import_module("keyring").get_password(service, origin) or ""
    except Exception as error:  # every backend of the keyring raises what it likes
        raise Unauthenticated(
            f"{source.where} has no token",
            why=f"the keyring answers: {error}",
            hint=f"unlock it; the entry is made with `keyring set {service} {origin}`",
        ) from None


def _has_keyring() -> bool:
    try:
        return importlib.util.find_spec("keyring") is not None
    except ValueError:  # somebody took it out of this process on purpose
        return False
