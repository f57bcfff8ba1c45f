"""Lists of packs: all of them, the last published first, and those that match a query, best first.

API, command line and pages show the same order.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from sqlalchemy import func, select, text, tuple_

from index.settings import DEFAULT_LIST_ITEMS, MAX_LIST_ITEMS
from index.store.schema import packs, publishers
from index.store.search import match_packs, near_names
from index.terms import parse_query
from market.client.wire import PackSummary, pack_path
from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row, Select

    from index.store.database import Database

_END = "~"
# Spelled out: the planner takes the index over just these packs for its very words, not for a parameter.
_INSTALLABLE = text("packs.latest != ''")


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of packs. `cursor` asks for the next one and is empty on the last.

    Where a search finds nothing, `packs` says how many there are and `near` names some that are spelled alike.
    """

    items: tuple[PackSummary, ...]
    total: int
    cursor: str = ""
    packs: int | None = None
    near: tuple[str, ...] = ()


def list_packs(database: Database, limit: int = DEFAULT_LIST_ITEMS, cursor: str = "") -> Listing:
    """Return the packs that have an installable release, the last published first."""
    query = _summaries().where(_INSTALLABLE).order_by(packs.c.updated_at.desc(), packs.c.id.desc()).limit(limit + 1)
    if cursor:
        query = query.where(tuple_(packs.c.updated_at, packs.c.id) < _parse_cursor(cursor))
    with database.read() as connection:
        total = _count_packs(connection)
        rows = connection.execute(query).all()
    more = len(rows) > limit
    return Listing(tuple(_summarise(row) for row in rows[:limit]), total, _dump_cursor(rows[limit - 1]) if more else "")


def search_packs(database: Database, query: str, limit: int = DEFAULT_LIST_ITEMS, cursor: str = "") -> Listing:
    """Return the packs that match a query, best first. An empty query matches nothing."""
    start, name, match = _parse_offset(cursor), canonicalize_name(query.strip()), parse_query(query)
    with database.read() as connection:
        found = match_packs(connection, name, match)
        if not found:
            return Listing((), 0, packs=_count_packs(connection), near=near_names(connection, name, match))
        rows = _in_order(connection, found[start : start + limit])
    return Listing(
        tuple(_summarise(row) for row in rows), len(found), str(start + limit) if start + limit < len(found) else ""
    )


def parse_limit(given: str | None) -> int:
    """Return how many items a page may have; raises `InvalidInput` outside 1 to MAX_LIST_ITEMS, except that more means the most."""
    if given is None:
        return DEFAULT_LIST_ITEMS
    if not given.isascii() or not given.isdigit() or int(given[:9]) < 1:
        raise InvalidInput(
            f"limit={given[:20]!r} is not a number of items", hint=f"give a number from 1 to {MAX_LIST_ITEMS}"
        )
    return min(int(given[:9]), MAX_LIST_ITEMS)


def _count_packs(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(packs).where(_INSTALLABLE)).scalar_one()


def _summaries() -> Select[int, str, str, str, str, str, int]:
    return select(
        packs.c.id, packs.c.name, packs.c.latest, publishers.c.name, packs.c.summary, packs.c.updated_at, packs.c.skills
    ).join(publishers, publishers.c.id == packs.c.publisher_id)


def _summarise(row: Row[int, str, str, str, str, str, int]) -> PackSummary:
    _, name, version, publisher, summary, updated_at, skills = row
    return PackSummary(name, version, publisher, summary, updated_at, pack_path(name).removeprefix("/v1/"), skills)


def _in_order(connection: Connection, ids: Sequence[int]) -> list[Row[int, str, str, str, str, str, int]]:
    rows = {row[0]: row for row in connection.execute(_summaries().where(packs.c.id.in_(ids)))}
    return [rows[pack_id] for pack_id in ids]


def _dump_cursor(row: Row[int, str, str, str, str, str, int]) -> str:
    return base64.urlsafe_b64encode(f"{row[5]}{_END}{row[0]}".encode()).decode().rstrip("=")


def _parse_cursor(cursor: str) -> tuple[str, int]:
    try:
        updated_at, _, pack_id = (
            base64.urlsafe_b64decode(cursor[:200] + "=" * (-len(cursor) % 4)).decode().partition(_END)
        )
        return updated_at, int(pack_id)
    except (ValueError, binascii.Error):
        raise _bad_cursor() from None


def _parse_offset(cursor: str) -> int:
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise _bad_cursor()
    return int(cursor or 0)


def _bad_cursor() -> InvalidInput:
    return InvalidInput("the cursor can't be read", hint="take it as it stands in `next`, or leave it out")
