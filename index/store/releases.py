"""SQL of packs, releases and their files: find and insert.

Whether one may, is in `index.commit`; the documents that tell of them are in `index.store.written`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select, update

from index.model import FileKind, ReleaseState
from index.store.schema import files, packs, publishers, releases

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from market.names import PackName, Version


def _stored() -> Select[int, str, str, str, str]:
    columns = (files.c.release_id, releases.c.version, files.c.filename, files.c.digest, files.c.tree_digest)
    return select(*columns).join(releases, releases.c.id == files.c.release_id)


# Made once: to put a statement together costs as much as to run it, and an upload runs each of these several times.
_PACK = (
    select(packs.c.id, packs.c.publisher_id, publishers.c.name)
    .join(publishers, publishers.c.id == packs.c.publisher_id)
    .where(packs.c.name == bindparam("name"))
)
_RELEASE = (
    select(releases.c.id, releases.c.version, releases.c.state, releases.c.yanked_reason)
    .join(packs, packs.c.id == releases.c.pack_id)
    .where(packs.c.name == bindparam("name"), releases.c.canonical_version == bindparam("canonical"))
)
_FILE = _stored().where(files.c.filename == bindparam("filename"))


@dataclass(frozen=True, slots=True)
class PackRow:
    """A pack's name on this index, and whose it is."""

    pack_id: int
    publisher_id: int
    publisher: str


@dataclass(frozen=True, slots=True)
class Standing:
    """A release that already stands under a version, as written by its author."""

    release_id: int
    version: str
    state: str
    yanked_reason: str = ""


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file about to join a release, with what it says of itself. `requires`, `needs` and `manifest` are JSON text."""

    kind: FileKind
    filename: str
    digest: str
    size: int
    tree_digest: str
    requires: str
    needs: str
    manifest: str
    requires_python: str = ""
    metadata_digest: str = ""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that stands already, in the release that has it."""

    release_id: int
    version: str
    filename: str
    digest: str
    tree_digest: str


def find_pack(connection: Connection, name: PackName) -> PackRow | None:
    """Return who has the name, or None where it is free."""
    row = connection.execute(_PACK, {"name": name}).first()
    return None if row is None else PackRow(*row)


def find_release(connection: Connection, name: PackName, version: Version) -> Standing | None:
    """Return the release under this version, in any spelling of it, in any state."""
    row = connection.execute(_RELEASE, {"name": name, "canonical": version.canonical}).first()
    return None if row is None else Standing(*row)


def find_archive(connection: Connection, release_id: int) -> StoredFile | None:
    """Return a release's archive, or None where it has none (yet)."""
    query = _stored().where(files.c.release_id == release_id, files.c.kind == str(FileKind.ARCHIVE))
    row = connection.execute(query).first()
    return None if row is None else StoredFile(*row)


def find_file(connection: Connection, filename: str) -> StoredFile | None:
    """Return the file of this name, which is unique on an index."""
    row = connection.execute(_FILE, {"filename": filename}).first()
    return None if row is None else StoredFile(*row)


def list_filenames(connection: Connection, release_id: int, kind: FileKind) -> list[str]:
    """Return the names of a release's files of one kind."""
    query = select(files.c.filename).where(files.c.release_id == release_id, files.c.kind == str(kind))
    return list(connection.execute(query).scalars())


def claim_name(connection: Connection, name: PackName, publisher_id: int, now: str) -> int:
    """Give a free name to a publisher and return the pack's id."""
    values = {"name": name, "publisher_id": publisher_id, "latest": "", "summary": "", "skills": 0, "updated_at": now}
    return int(connection.execute(insert(packs), values).inserted_primary_key[0])  # type: ignore[index]


def insert_release(connection: Connection, pack_id: int, version: Version, token_id: int, now: str) -> Standing:
    """Write a release's row; it stays as it is, but for the state."""
    values = {
        "pack_id": pack_id,
        "version": version.text,
        "canonical_version": version.canonical,
        "state": str(ReleaseState.LIVE),
        "yanked_reason": "",
        "published_at": now,
        "token_id": token_id,
    }
    release_id = connection.execute(insert(releases), values).inserted_primary_key[0]  # type: ignore[index]
    return Standing(int(release_id), version.text, str(ReleaseState.LIVE))


def insert_file(connection: Connection, release_id: int, file: NewFile, now: str) -> None:
    """Write a file's row; it never changes."""
    values = {**asdict(file), "kind": str(file.kind), "release_id": release_id, "uploaded_at": now}
    connection.execute(insert(files), values)


def set_state(connection: Connection, release_id: int, state: ReleaseState, reason: str) -> None:
    """Write a release's state, with the reason where it is yanked."""
    values = {"state": str(state), "yanked_reason": reason}
    connection.execute(update(releases).where(releases.c.id == release_id).values(**values))
