"""Store an index and its token for later commands, and forget a token. Reading them back is in `market.client.settings`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import tomlkit
from tomlkit.exceptions import TOMLKitError

from market.client.origins import origin_of, parse_server_url
from market.client.settings import DEFAULT_INDEX_URL, load_credentials
from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.home import make_private_directory
from market.disk.lock import lock_file
from market.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from market.disk.home import Home

LOCK_TIMEOUT_SECONDS = 10.0
PRIVATE_MODE = 0o600
PUBLIC_MODE = 0o644


def remember_index(home: Home, url: str, token: str, *, name: str = "") -> None:
    """Store the token under the URL's origin, and the index where none of that URL is configured yet.

    With a name, the index of that name is moved to the URL: a server of one's own may come back on another port.
    """
    url = parse_server_url(url)
    make_private_directory(home.path)
    with disk_failures("write", home.path), lock_file(home.path / "config.lock", timeout_seconds=LOCK_TIMEOUT_SECONDS):
        _save_index(home.config, url, name)
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


def _save_index(path: Path, url: str, name: str) -> None:
    """Add or move an index, keeping what people wrote into the file. The default one isn't written: it is known without a file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InvalidInput(f"{path} is not TOML", why=str(error), hint="correct that line") from None
    rows = document.get("index", [])
    named = next((row for row in rows if name and row.get("name") == name), None)
    if any(row.get("url", "").rstrip("/") == url for row in rows) or (not rows and url == DEFAULT_INDEX_URL):
        return
    if named is not None:
        named["url"] = url
    else:
        added = tomlkit.table()
        added.update({"name": name or url.partition("://")[2], "url": url})
        document.setdefault("index", tomlkit.aot()).append(added)
    write_atomic(path, tomlkit.dumps(document).encode(), PUBLIC_MODE)
