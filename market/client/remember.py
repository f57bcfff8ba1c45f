"""Store an index and its token for later commands, and forget a token. Reading them back is in `market.client.settings`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import tomlkit
from tomlkit.exceptions import TOMLKitError

from market.client.origins import origin_of, parse_server_url
from market.client.settings import DEFAULT_INDEX_NAME, DEFAULT_INDEX_URL, load_credentials
from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.lock import lock_file
from market.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from market.disk.home import Home

LOCK_TIMEOUT_SECONDS = 10.0
PRIVATE_MODE = 0o600


def remember_index(home: Home, url: str, token: str) -> None:
    """Store the token under the URL's origin, and the index itself where no index of that URL is configured yet."""
    url = parse_server_url(url)
    with disk_failures("write", home.path):
        home.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with lock_file(home.path / "config.lock", timeout_seconds=LOCK_TIMEOUT_SECONDS):
            _save_index(home.config, url)
            _save_credentials(home.credentials, {**load_credentials(home.credentials), origin_of(url): token})


def forget_token(home: Home, url: str) -> bool:
    """Delete the token stored for a URL's origin, and say whether there was one."""
    with disk_failures("write", home.path):
        if not home.credentials.exists():
            return False
        with lock_file(home.path / "config.lock", timeout_seconds=LOCK_TIMEOUT_SECONDS):
            tokens = load_credentials(home.credentials)
            had = tokens.pop(origin_of(parse_server_url(url)), None) is not None
            _save_credentials(home.credentials, tokens)
    return had


def _save_credentials(path: Path, tokens: dict[str, str]) -> None:
    write_atomic(path, (json.dumps(tokens, indent=2, sort_keys=True) + "\n").encode(), PRIVATE_MODE)


def _save_index(path: Path, url: str) -> None:
    """Add an index, keeping what people wrote into the file. The default one isn't written: it is known without a file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInput(f"{path} is not TOML", why=str(error), hint="correct that line") from None
    rows = document.get("index", [])
    if any(row.get("url", "").rstrip("/") == url for row in rows) or (not rows and url == DEFAULT_INDEX_URL):
        return
    added = tomlkit.table()
    added["name"] = DEFAULT_INDEX_NAME if not rows else url.partition("://")[2]
    added["url"] = url
    if "index" not in document:
        document["index"] = tomlkit.aot()
    document["index"].append(added)
    write_atomic(path, tomlkit.dumps(document).encode(), 0o644)
