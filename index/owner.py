"""The first day: the user who starts an index in their own home can publish to it at once, without making a token by hand.

The token's secret stays beside the database, readable by its owner only, so that a later start on another port can hand it over again.
"""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

from index.accounts import authenticate, create_token
from index.store.inline import InlineReader
from market.disk.atomic import write_atomic
from market.errors import InvalidInput, Unauthenticated
from market.names import PublisherName, parse_publisher_name

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from index.store.database import Database

OWNER_TOKEN_NAME = "owner.token"
FALLBACK_PUBLISHER = PublisherName("local")


def owner_token(database: Database, data: Path, now: datetime) -> str:
    """Return the secret of the owner's token; makes one where there is none, or where it was revoked."""
    path = data / OWNER_TOKEN_NAME
    if path.exists() and _is_good(data, secret := path.read_text().strip(), now):
        return secret
    with database.write() as connection:
        secret = create_token(connection, owner_name(), now, label="made by the first `market index serve`").secret
    write_atomic(path, f"{secret}\n".encode(), 0o600)
    return secret


def owner_name() -> PublisherName:
    """Return the publisher that this user is: the login name in canonical form, or `local` where there is none that fits."""
    try:
        return parse_publisher_name(getpass.getuser())
    except (InvalidInput, KeyError, OSError):
        return FALLBACK_PUBLISHER


def _is_good(data: Path, secret: str, now: datetime) -> bool:
    reader = InlineReader(data)
    try:
        authenticate(reader, secret, now)
    except Unauthenticated:
        return False
    else:
        return True
    finally:
        reader.close()
