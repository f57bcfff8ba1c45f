"""The values that the index's rooms pass to each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a token may do."""

    READ = "read"
    PUBLISH = "publish"


class ReleaseState(StrEnum):
    """How a release stands."""

    LIVE = "live"
    HELD = "held"
    YANKED = "yanked"
    QUARANTINED = "quarantined"
    DELETED = "deleted"


class FileKind(StrEnum):
    """What a file of a release is, the one that an install takes first: an archive, a wheel, an sdist (kept for download only)."""

    ARCHIVE = "archive"
    WHEEL = "wheel"
    SDIST = "sdist"


@dataclass(frozen=True, slots=True)
class Account:
    """Who is calling, by a good token. Empty `expires_at` means never."""

    token_id: int
    publisher_id: int
    publisher: str
    prefix: str
    scopes: frozenset[Scope]
    expires_at: str = ""
    last_used_at: str = ""


def to_text(moment: datetime) -> str:
    """Return a time as the index writes it: RFC 3339 in UTC with milliseconds, so that text sorts as time does.

    >>> to_text(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05.000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
