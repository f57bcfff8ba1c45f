"""Documents in step with rows: after any change of a release, whatever tells of it is written again in the same transaction.

That is the pack's and the release's document, the pack's page on the Simple API, the pack's own columns and its search row.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from index.documents import (
    FileRow,
    ReleaseRow,
    find_latest,
    make_pack_document,
    make_release_document,
    sort_releases,
)
from index.simple import make_html_page, make_json_page, make_project, simple_html_path, simple_json_path
from index.store.schema import documents, files, packs, publishers, releases
from index.store.search import delete_search_row, put_search_row
from market.client.wire import pack_path, release_path
from market.web.documents import make_etag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from market.names import PackName

_COLUMNS = (
    releases.c.version, releases.c.state, releases.c.yanked_reason, releases.c.published_at, files.c.id, files.c.kind, files.c.filename,
    files.c.digest, files.c.size, files.c.uploaded_at, files.c.tree_digest, files.c.requires_python, files.c.metadata_digest,
    files.c.requires, files.c.needs,
)  # fmt: skip


def write_documents(
    connection: Connection, name: PackName, publisher: str, pack_id: int, version: str, now: str = ""
) -> None:
    """Write everything that tells of this version of a pack, and of the pack.

    `now` is the time of a publish; empty for a change that brings nothing new, which leaves the pack where it stands in lists.
    """
    _write(connection, _Pack(pack_id, name, publisher), [version], now)


def rewrite_documents(connection: Connection) -> None:
    """Write every document again, after a step of the schema has changed what they say."""
    query = select(packs.c.id, packs.c.name, publishers.c.name)
    for row in connection.execute(query.join(publishers, publishers.c.id == packs.c.publisher_id)).all():
        _write(connection, _Pack(*row), None, "")


class _Pack(NamedTuple):
    pack_id: int
    name: str
    publisher: str


def _write(connection: Connection, pack: _Pack, versions: list[str] | None, now: str) -> None:
    """Write the documents of a pack and of these of its versions; None means all."""
    pack_id, name, publisher = pack
    rows = load_releases(connection, pack_id)
    installable = sort_releases(row for row in rows.values() if row.leading)
    _write_simple_page(connection, name, rows.values())
    if not installable:
        return
    latest = find_latest(installable)
    shown = rows[latest] if latest else installable[0]
    for version in rows if versions is None else versions:
        _write_release(connection, name, publisher, rows[version])
    manifest = json.loads(_manifest(connection, shown))
    now = now or connection.execute(select(packs.c.updated_at).where(packs.c.id == pack_id)).scalar_one()
    put_document(
        connection, pack_path(name), make_pack_document(name, publisher, manifest["summary"], now, installable)
    )
    changed = {"latest": latest, "summary": manifest["summary"], "skills": len(manifest["skills"]), "updated_at": now}
    connection.execute(update(packs).where(packs.c.id == pack_id).values(**changed))
    _write_search_row(connection, pack_id, name, manifest if latest else None)


def load_releases(connection: Connection, pack_id: int) -> dict[str, ReleaseRow]:
    """Return a pack's releases by version, with their files in the order in which they came."""
    query = (
        select(*_COLUMNS)
        .join(files, files.c.release_id == releases.c.id)
        .where(releases.c.pack_id == pack_id)
        .order_by(files.c.id)
    )
    found: dict[str, list[Any]] = {}
    for row in connection.execute(query):
        found.setdefault(row[0], []).append(tuple(row))
    return {version: _release(rows) for version, rows in found.items()}


def _release(rows: list[Any]) -> ReleaseRow:
    version, state, reason, published_at = rows[0][:4]
    return ReleaseRow(version, state, reason, published_at, tuple(FileRow(*row[4:]) for row in rows))


def put_document(connection: Connection, path: str, body: bytes) -> None:
    """Write a document, in place of an older one under its path."""
    values = {"path": path, "etag": make_etag(body).decode(), "body": body}
    statement = upsert(documents).values(**values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["path"], set_={"etag": statement.excluded.etag, "body": statement.excluded.body}
        )
    )


def _write_release(connection: Connection, name: str, publisher: str, row: ReleaseRow) -> None:
    leading = row.leading
    if leading is not None:
        body = make_release_document(name, publisher, row, leading, _manifest(connection, row))
        put_document(connection, release_path(name, row.version), body)


def _write_simple_page(connection: Connection, name: str, rows: Iterable[ReleaseRow]) -> None:
    project = make_project(name, sort_releases(rows))
    if project is None:
        connection.execute(
            delete(documents).where(documents.c.path.in_([simple_json_path(name), simple_html_path(name)]))
        )
        return
    put_document(connection, simple_json_path(name), make_json_page(project))
    put_document(connection, simple_html_path(name), make_html_page(project))


def _write_search_row(connection: Connection, pack_id: int, name: str, manifest: dict[str, Any] | None) -> None:
    if manifest is None:
        delete_search_row(connection, pack_id)
    else:
        put_search_row(connection, pack_id, name, manifest)


def _manifest(connection: Connection, row: ReleaseRow) -> str:
    leading = row.leading
    file_id = leading.file_id if leading else None
    return str(connection.execute(select(files.c.manifest).where(files.c.id == file_id)).scalar_one())
