"""SQL of packs and releases: find, insert, and put the documents of a pack in step with its rows.

Whether one may, is in `index.publish`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from index.documents import (
    ReleaseRow,
    dump_needs,
    find_latest,
    make_manifest,
    make_pack_document,
    make_release_document,
    sort_releases,
)
from index.model import ReleaseState
from index.store.schema import documents, files, packs, publishers, releases
from market.client.wire import pack_path, release_path
from market.web.documents import make_etag

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from market.names import PackName, Version
    from market.trust.verify import VerifiedPack

ARCHIVE = "archive"
_RELEASE_COLUMNS = (
    releases.c.version, releases.c.state, releases.c.yanked_reason, releases.c.published_at, releases.c.tree_digest, releases.c.requires,
    releases.c.needs, files.c.digest, files.c.size,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PackRow:
    """A pack's name on this index, and whose it is."""

    pack_id: int
    publisher_id: int
    publisher: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A release that already stands under a version, as written by its author."""

    version: str
    tree_digest: str
    archive_digest: str


def find_pack(connection: Connection, name: PackName) -> PackRow | None:
    """Return who has the name, or None where it is free."""
    query = (
        select(packs.c.id, packs.c.publisher_id, publishers.c.name)
        .join(publishers, publishers.c.id == packs.c.publisher_id)
        .where(packs.c.name == name)
    )
    row = connection.execute(query).first()
    return None if row is None else PackRow(*row)


def find_release(connection: Connection, name: PackName, version: Version) -> Standing | None:
    """Return the release under this version, in any spelling of it, in any state."""
    query = (
        select(releases.c.version, releases.c.tree_digest, files.c.digest)
        .join(packs, packs.c.id == releases.c.pack_id)
        .join(files, (files.c.release_id == releases.c.id) & (files.c.kind == ARCHIVE))
        .where(packs.c.name == name, releases.c.canonical_version == version.canonical)
    )
    row = connection.execute(query).first()
    return None if row is None else Standing(*row)


def claim_name(connection: Connection, name: PackName, publisher_id: int, now: str) -> int:
    """Give a free name to a publisher and return the pack's id."""
    values = {"name": name, "publisher_id": publisher_id, "latest": "", "summary": "", "skills": 0, "updated_at": now}
    return int(connection.execute(insert(packs).values(**values)).inserted_primary_key[0])  # type: ignore[index]


def insert_release(
    connection: Connection, pack_id: int, verified: VerifiedPack, token_id: int, now: str, archive_size: int
) -> None:
    """Write the release's row and its archive's; both stay as they are, but for the state."""
    pack = verified.pack
    values = {
        "pack_id": pack_id,
        "version": verified.version.text,
        "canonical_version": verified.version.canonical,
        "state": str(ReleaseState.LIVE),
        "yanked_reason": "",
        "published_at": now,
        "token_id": token_id,
        "tree_digest": verified.tree_digest,
        "requires": json.dumps([str(requirement) for requirement in pack.requires]),
        "needs": json.dumps(dump_needs(pack.needs)),
        "manifest": json.dumps(make_manifest(verified), ensure_ascii=False),
    }
    release_id = connection.execute(insert(releases).values(**values)).inserted_primary_key[0]  # type: ignore[index]
    connection.execute(
        insert(files).values(release_id=release_id, kind=ARCHIVE, digest=verified.archive_digest, size=archive_size)
    )


def write_documents(
    connection: Connection, name: PackName, publisher: str, pack_id: int, version: str, now: str
) -> str:
    """Write the documents that changed with this version, and the pack's own columns; return the newest installable version."""
    rows = {row.version: row for row in _release_rows(connection, pack_id)}
    latest = find_latest(sort_releases(rows.values()))
    manifests = {wanted: _manifest(connection, pack_id, wanted) for wanted in {version, latest or version}}
    _put(
        connection,
        release_path(name, version),
        make_release_document(name, publisher, rows[version], manifests[version]),
    )
    shown = json.loads(manifests[latest or version])
    _put(connection, pack_path(name), make_pack_document(name, publisher, shown["summary"], now, rows.values()))
    changed = {"latest": latest, "summary": shown["summary"], "skills": len(shown["skills"]), "updated_at": now}
    connection.execute(update(packs).where(packs.c.id == pack_id).values(**changed))
    return latest


def _release_rows(connection: Connection, pack_id: int) -> list[ReleaseRow]:
    query = (
        select(*_RELEASE_COLUMNS)
        .join(files, (files.c.release_id == releases.c.id) & (files.c.kind == ARCHIVE))
        .where(releases.c.pack_id == pack_id)
    )
    return [ReleaseRow(*row) for row in connection.execute(query)]


def _manifest(connection: Connection, pack_id: int, version: str) -> str:
    query = select(releases.c.manifest).where(releases.c.pack_id == pack_id, releases.c.version == version)
    return str(connection.execute(query).scalar_one())


def _put(connection: Connection, path: str, body: bytes) -> None:
    values = {"path": path, "etag": make_etag(body).decode(), "body": body}
    statement = upsert(documents).values(**values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["path"], set_={"etag": statement.excluded.etag, "body": statement.excluded.body}
        )
    )
