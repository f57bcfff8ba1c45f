"""The search table (FTS5): what is put in, and which packs match, best first and at a bounded cost. Terms are made in `index.terms`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from index.settings import MAX_NEAR_CANDIDATES, MAX_NEAR_NAMES, MAX_SEARCH_MATCHES
from index.terms import name_terms, stored_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from index.terms import Match

_DELETE = text("DELETE FROM search WHERE rowid = :pack_id")
_INSERT = text(
    "INSERT INTO search (rowid, name, skills, summary, words) VALUES (:pack_id, :name, :skills, :summary, :words)"
)
_EXACT = text("SELECT id FROM packs WHERE name = :name AND latest != ''")
# Within the texts: a word in a skill's name says more than one in the summary, and that more than one in the rest.
_WORDS = text(
    "SELECT rowid FROM search WHERE search MATCH :match ORDER BY bm25(search, 10.0, 5.0, 3.0, 1.0), rowid LIMIT :cap"
)
_NAMES = text("SELECT id FROM packs WHERE name >= :low AND name < :high AND latest != '' ORDER BY name LIMIT :cap")
# Ranking every pack in which some word begins with two letters would cost a hundred times more, so these stand by date.
_BEGINNINGS = text(
    "SELECT packs.id FROM (SELECT rowid FROM search WHERE search MATCH :match LIMIT :cap) AS found "
    "JOIN packs ON packs.id = found.rowid ORDER BY packs.updated_at DESC, packs.id DESC"
)
_LIKE = text(
    "SELECT packs.name FROM (SELECT rowid FROM search WHERE search MATCH :match LIMIT :cap) AS found "
    "JOIN packs ON packs.id = found.rowid ORDER BY packs.name"
)
_AFTER_ANY_NAME_CHARACTER = "\x7f"


def put_search_row(connection: Connection, pack_id: int, name: str, manifest: Mapping[str, Any]) -> None:
    """Replace what search knows of a pack by the words of its newest installable release's manifest."""
    skills = manifest["skills"]
    words = [*manifest["keywords"], *manifest["categories"], *(skill["description"] for skill in skills)]
    row = {
        "name": name_terms(name),
        "skills": " ".join(skill["name"] for skill in skills),
        "summary": manifest["summary"],
        "words": "\n".join(words),
    }
    delete_search_row(connection, pack_id)
    connection.execute(_INSERT, {"pack_id": pack_id, **{column: stored_text(value) for column, value in row.items()}})


def delete_search_row(connection: Connection, pack_id: int) -> None:
    """Let search forget a pack of which nothing can be installed."""
    connection.execute(_DELETE, {"pack_id": pack_id})


def match_packs(connection: Connection, name: str, match: Match | None) -> list[int]:
    """Return the ids of the packs that match, best first: the exact name, whole words in names, the words joined in a name,
    whole words anywhere, beginnings.

    Each step is capped, and so is the whole.
    """
    found = dict.fromkeys(connection.execute(_EXACT, {"name": name}).scalars())
    cap = MAX_SEARCH_MATCHES
    if match is not None:
        # Weights alone don't put names first: BM25 levels off, and a short text that repeats a word overtakes them.
        for expression in (f"name : ({match.words})", match.joined and f"name : {match.joined}", match.words):
            if not expression:
                continue
            found |= dict.fromkeys(connection.execute(_WORDS, {"match": expression, "cap": cap}).scalars())
    if name:
        found |= dict.fromkeys(
            connection.execute(_NAMES, {"low": name, "high": name + _AFTER_ANY_NAME_CHARACTER, "cap": cap}).scalars()
        )
    if match is not None and len(found) < cap:
        found |= dict.fromkeys(connection.execute(_BEGINNINGS, {"match": match.beginnings, "cap": cap}).scalars())
    return list(found)[:cap]


def near_names(connection: Connection, name: str, match: Match | None) -> tuple[str, ...]:
    """Return names spelled like a query that matches nothing, the nearest first. Of an index with very many packs not all are compared."""
    if match is None or not match.near:
        return ()
    bounds = {"match": f"name : ({match.near})", "cap": MAX_NEAR_CANDIDATES}
    names = connection.execute(_LIKE, bounds).scalars().all()
    return tuple(difflib.get_close_matches(name, names, MAX_NEAR_NAMES))
