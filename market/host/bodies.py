"""JSON in and out of the host's API: bounded bodies, typed, with answers that say what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from starlette.responses import Response

from market.errors import InvalidInput
from market.web.bodies import receive_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

T = TypeVar("T")

JSON_TYPE = "application/json"


async def read_json(request: Request, shape: type[T], limit_bytes: int) -> T:
    """Return the request's JSON body as the shape; raises `InvalidInput` with the place of what doesn't fit."""
    data = await receive_bytes(request.scope, request.receive, limit_bytes=limit_bytes)
    try:
        return msgspec.json.decode(data or b"{}", type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError) as error:
        raise InvalidInput(
            "the body can't be read", why=str(error), hint="send one JSON object as the API's page describes it"
        ) from None


def json_response(values: Any, status: int = 200) -> Response:
    """Return values as a JSON answer that isn't kept by caches."""
    body = msgspec.json.encode(values, enc_hook=_plain)
    return Response(body, status, {"cache-control": "no-store", "x-content-type-options": "nosniff"}, JSON_TYPE)


def read_number(query: Mapping[str, str], name: str, default: int, highest: int) -> int:
    """Return a whole number from the query, from 1 to `highest`."""
    text = query.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= highest:
        raise InvalidInput(f"the query {name} is {text[:40]!r}", why=f"it is a whole number from 1 to {highest}")
    return int(text)


def _plain(value: object) -> object:
    """Schemas are read-only mappings, digests and names are texts of their own types."""
    return dict(value) if hasattr(value, "keys") else str(value)  # type: ignore[call-overload]
