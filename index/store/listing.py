"""SQL of the list of projects on the Simple API: the packs that have a page there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from index.simple import SIMPLE_PREFIX
from index.store.schema import documents

if TYPE_CHECKING:
    from index.store.database import Database

_JSON_END = "/index.json"
# The character after the slash that ends the prefix, so that a range over the key finds just these.
_BEHIND = SIMPLE_PREFIX[:-1] + chr(ord("/") + 1)


def list_projects(database: Database) -> list[str]:
    """Return the names of all projects, in order of name."""
    query = select(documents.c.path).where(documents.c.path > SIMPLE_PREFIX, documents.c.path < _BEHIND)
    with database.read() as connection:
        paths = connection.execute(query.order_by(documents.c.path)).scalars()
        return sorted(path[len(SIMPLE_PREFIX) : -len(_JSON_END)] for path in paths if path.endswith(_JSON_END))
