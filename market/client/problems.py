"""What a server's refusal says, as one of our errors: status and problem+json in, error out. Pure.

The reverse direction, for the servers, is `market.web.problems`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.errors import (
    Conflict,
    InvalidInput,
    MarketError,
    NotFound,
    PluginError,
    Problem,
    RateLimited,
    Refused,
    Severity,
    Unauthenticated,
    Unavailable,
    Untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT_CHARACTERS = 4000
MAX_PROBLEMS = 1000
MAX_HEADER_CHARACTERS = 100
LOGIN_HINT = "log in with `market login`, or give a token with --token or MARKET_TOKEN"

_BY_SLUG: Mapping[str, type[MarketError]] = {
    kind.slug: kind
    for kind in (InvalidInput, NotFound, Conflict, Untrusted, Refused, Unauthenticated, Unavailable, PluginError)
}
_BY_STATUS: Mapping[int, type[MarketError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Refused,
    404: NotFound,
    409: Conflict,
    413: InvalidInput,
    422: InvalidInput,
}


def parse_refusal(status: int, body: bytes, peer: str, *, retry_after: str = "", remaining: str = "") -> MarketError:
    """Return the error that a status of 400 or above stands for; `peer` names the server, as in `the index at URL`.

    `retry_after` and `remaining` are what the answer's headers say of a rate limit, for 429.
    """
    fields = _parse_fields(body)
    if status == 429:
        return _rate_limit(fields, peer, retry_after[:MAX_HEADER_CHARACTERS], remaining[:MAX_HEADER_CHARACTERS])
    slug = fields.get("code")
    kind = _BY_SLUG.get(slug) if isinstance(slug, str) else None
    if kind is None and isinstance(slug, str) and _text(fields, "detail"):
        kind = _BY_STATUS.get(status, Unavailable)  # a newer server's word: its sentence counts all the same
    if kind is None:
        return _unknown_refusal(status, peer)
    message = _text(fields, "detail") or f"{peer} answered {status}"
    hint = _text(fields, "hint") or (LOGIN_HINT if kind is Unauthenticated else "")
    details = fields.get("details")
    return kind(
        message,
        why=_text(fields, "why"),
        hint=hint,
        problems=parse_problems(fields.get("problems")),
        details=details if isinstance(details, dict) else {},
    )


def parse_problems(rows: object) -> tuple[Problem, ...]:
    """Read problems as a server lists them; a row of another shape is kept as a bare warning."""
    return tuple(_parse_problem(row) for row in rows[:MAX_PROBLEMS]) if isinstance(rows, list | tuple) else ()


def _rate_limit(fields: Mapping[str, object], peer: str, retry_after: str, remaining: str) -> RateLimited:
    message = _text(fields, "detail")
    why = _text(fields, "why") or "too many requests"
    # RFC 9110 knows a number of seconds and a date.
    when = f"in {retry_after} seconds" if retry_after.isdigit() else f"after {retry_after}" if retry_after else "later"
    given = {"retry_after": retry_after, "remaining": remaining}
    return RateLimited(
        f"{peer} asks to wait" + (f": {message}" if message else ""),
        why=f"{why}; requests left: {remaining}" if remaining else why,
        hint=f"try again {when}",
        details={name: value for name, value in given.items() if value},
    )


def _unknown_refusal(status: int, peer: str) -> MarketError:
    if status in (502, 503, 504):
        return Unavailable(f"{peer} is not ready (HTTP {status})", hint="try again later")
    kind = _BY_STATUS.get(status, Unavailable)
    if kind is NotFound:
        return Unavailable(
            f"{peer} answers something else than Market's protocol", why="a bare HTTP 404", hint="check the URL"
        )
    hint = LOGIN_HINT if kind is Unauthenticated else "check the URL, and any proxy in between"
    return kind(f"{peer} answered HTTP {status} and gave no reason", hint=hint)


def _parse_fields(body: bytes) -> dict[str, object]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _parse_problem(row: object) -> Problem:
    if not isinstance(row, dict):
        return Problem("unknown", Severity.WARNING, str(row)[:MAX_TEXT_CHARACTERS])
    severity = row.get("severity")
    return Problem(
        rule=_text(row, "rule") or "unknown",
        severity=Severity(severity) if severity in tuple(Severity) else Severity.WARNING,
        text=_text(row, "text"),
        file=_text(row, "file"),
        line=_number(row, "line"),
        column=_number(row, "column"),
        reason=_text(row, "reason"),
        fix=_text(row, "fix"),
    )


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value[:MAX_TEXT_CHARACTERS] if isinstance(value, str) else ""


def _number(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
