"""Documents in step with rows: after any change of a release, whatever tells of it is written again in the same transaction.

That is the pack's and the release's document, the pack's page on the Simple API, the pack's own columns and its search row.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, select, text

from index.documents import (
    FileRow,
    ReleaseRow,
    find_latest,
    make_pack_document,
    make_release_document,
    sort_releases,
)
from index.simple import make_html_page, make_json_page, make_project, simple_html_path, simple_json_path
from index.store.schema import files, packs, publishers, releases
from index.store.search import delete_search_row, put_search_row
from market.client.wire import pack_path, release_path
from market.web.documents import make_etag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from market.names import PackName

_COLUMNS = (
    releases.c.version, releases.c.state, releases.c.yanked_reason, releases.c.published_at, files.c.id, files.c.kind, files.c.filename,
    files.c.digest, files.c.size, files.c.uploaded_at, files.c.tree_digest, files.c.requires_python, files.c.metadata_digest,
    files.c.requires, files.c.needs,
)  # fmt: skip
# Made once: putting a statement together costs as much as running it.
_FILES = (
    select(*_COLUMNS)
    .join(files, files.c.release_id == releases.c.id)
    .where(releases.c.pack_id == bindparam("pack_id"))
    .order_by(files.c.id)
)
_PUT = text(
    "INSERT INTO documents (path, etag, body) VALUES (:path, :etag, :body) "
    "ON CONFLICT (path) DO UPDATE SET etag = excluded.etag, body = excluded.body"
)
_BODY = text("SELECT body FROM documents WHERE path = :path")
_UPDATE = text(
    "UPDATE packs SET latest = :latest, summary = :summary, skills = :skills, updated_at = :updated_at WHERE id = :id"
)


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
    bodies = _page_bodies(name, rows.values())
    installable = sort_releases(row for row in rows.values() if row.leading)
    if installable:
        latest = find_latest(installable)
        shown = rows[latest] if latest else installable[0]
        told = [row for row in installable if versions is None or row.version in versions]
        manifests = _load_manifests(connection, {*told, shown})
        bodies |= {
            release_path(name, row.version): make_release_document(name, publisher, row, row.leading, manifests[row])
            for row in told
            if row.leading
        }
        manifest = json.loads(manifests[shown])
        now = now or connection.execute(select(packs.c.updated_at).where(packs.c.id == pack_id)).scalar_one()
        bodies[pack_path(name)] = make_pack_document(name, publisher, manifest["summary"], now, installable)
        _tell_pack(connection, pack, latest, manifest, now)
    put_documents(connection, bodies)


def _tell_pack(connection: Connection, pack: _Pack, latest: str, manifest: dict[str, Any], now: str) -> None:
    """Write the pack's own columns and its search row."""
    values = {"latest": latest, "summary": manifest["summary"], "skills": len(manifest["skills"]), "updated_at": now}
    connection.execute(_UPDATE, {"id": pack.pack_id, **values})
    if latest:
        put_search_row(connection, pack.pack_id, pack.name, manifest)
    else:
        delete_search_row(connection, pack.pack_id)


def load_releases(connection: Connection, pack_id: int) -> dict[str, ReleaseRow]:
    """Return a pack's releases by version, with their files in the order in which they came."""
    found: dict[str, list[Any]] = {}
    for row in connection.execute(_FILES, {"pack_id": pack_id}):
        found.setdefault(row[0], []).append(tuple(row))
    return {version: _release(rows) for version, rows in found.items()}


def _release(rows: list[Any]) -> ReleaseRow:
    version, state, reason, published_at = rows[0][:4]
    return ReleaseRow(version, state, reason, published_at, tuple(FileRow(*row[4:]) for row in rows))


def find_document(connection: Connection, path: str) -> bytes:
    """Return the document under a path, empty where there is none."""
    return connection.execute(_BODY, {"path": path}).scalar_one_or_none() or b""


def put_document(connection: Connection, path: str, body: bytes) -> None:
    """Write a document, in place of an older one under its path."""
    put_documents(connection, {path: body})


def put_documents(connection: Connection, bodies: Mapping[str, bytes]) -> None:
    """Write documents by their paths, each in place of an older one."""
    rows = [{"path": path, "etag": make_etag(body).decode(), "body": body} for path, body in bodies.items()]
    if rows:
        connection.execute(_PUT, rows)


def _page_bodies(name: str, rows: Iterable[ReleaseRow]) -> dict[str, bytes]:
    project = make_project(name, sort_releases(rows))
    if project is None:
        return {}
    return {simple_json_path(name): make_json_page(project), simple_html_path(name): make_html_page(project)}


def _load_manifests(connection: Connection, rows: set[ReleaseRow]) -> dict[ReleaseRow, str]:
    """Return the manifests of the files that speak for these releases."""
    speakers = {row.leading.file_id: row for row in rows if row.leading}
    query = select(files.c.id, files.c.manifest).where(files.c.id.in_(speakers))
    return {speakers[file_id]: manifest for file_id, manifest in connection.execute(query)}
