"""Who says who they are: the Authorization header's Bearer token (RFC 6750). Whether the token is good isn't known here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from market.errors import Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TOKEN_CHARACTERS = 512

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/=-]+) *", re.IGNORECASE)


def read_bearer(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Return the request's token, or None where it sends no Authorization header; raises `Unauthenticated` for any other one.

    `headers` are those of an ASGI scope, whose names are in lower case.
    """
    values = [value for name, value in headers if name == b"authorization"]
    if not values:
        return None
    match = _BEARER.fullmatch(values[0].decode("latin-1"))
    # Two headers could be read differently by a proxy and by us.
    if len(values) > 1 or match is None or len(match[1]) > MAX_TOKEN_CHARACTERS:
        raise Unauthenticated(
            "the Authorization header can't be read",
            why="it must be sent once, as 'Bearer TOKEN'",
            hint="sign in again with 'market login'",
        )
    return match[1]
