"""Accept a wheel or an sdist as a file of a release. How the bytes arrived is not known here: form and PUT both end in `accept_file`.

A wheel must be a pack (entry points of the group `market.skills`); an sdist is kept for download, and only its identity is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from index.claims import OTHER_DIGESTS, SHA256_FIELD, Claims, check_digests, check_file_name, check_metadata
from index.commit import Deed, add_file, check_open, check_owner
from index.content import Content, read_content
from index.filenames import NamedFile, parse_filename
from index.screening import Screened, screen, tell_published
from index.store.releases import NewFile, StoredFile, find_file, find_release, list_filenames
from index.store.written import find_document, put_document
from market.client.wire import Published, dump_problem, release_path
from market.errors import Conflict

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from index.store.blobs import FolderBlobs
    from index.store.database import Database
    from market.names import Digest, PackName

FILES_PREFIX = "/files/"
METADATA_SUFFIX = ".metadata"
CHUNK_BYTES = 1 << 20
RENAMING = "give the project another name in its pyproject.toml and build it again"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that arrived: its name, an open stream in the blobs' `incoming` folder, size in bytes and digest."""

    filename: str
    stream: IO[bytes]
    path: Path
    size: int
    digest: Digest


def accept_file(database: Database, blobs: FolderBlobs, sent: SentFile, claims: Claims, deed: Deed) -> Published:
    """Make a wheel or an sdist a file of its release, or say why not.

    Raises `BadRequest` where the sender says of it what isn't so, `InvalidInput` where it isn't what its name says or no good pack,
    `Untrusted` for a damaged one, `Refused` for another publisher's name and `Conflict` for a name that is taken. The same bytes again
    under their name are a success.
    What is new is screened (`index.screening`), and the plugins are told of it.
    """
    named = parse_filename(sent.filename)
    check_file_name(claims, named)
    check_digests(claims, _digests(sent, claims))
    with database.read() as connection:
        standing = _standing(connection, named, sent, deed)
        kept = find_document(connection, metadata_path(sent.digest, named.filename)) if standing else b""
    if standing is not None:
        # Of an sdist nothing is kept to hold the claims against; it is the same as before, whatever is said of it now.
        check_metadata(claims if kept else Claims(), kept)
        return _answer(named.name, standing, deed)
    content = read_content(cast("BinaryIO", sent.stream), named)
    check_metadata(claims, content.core_metadata)
    screened = Screened(named.filename, content.pack, content.source)
    findings = screen(database, screened, deed)
    blobs.keep(sent.path, sent.digest)
    with database.write() as connection:
        standing, version = _commit(connection, named, sent, content, deed)
    if standing is not None:
        return _answer(named.name, standing, deed)
    tell_published(screened, content.tree_digest, deed)
    return Published(
        name=named.name,
        version=version,
        publisher=deed.account.publisher,
        tree_digest=content.tree_digest,
        archive_digest=sent.digest,
        url=release_path(named.name, version),
        created=True,
        problems=tuple(dump_problem(problem) for problem in content.problems),
        findings=tuple(map(dump_problem, findings)),
    )


def metadata_path(digest: str, filename: str) -> str:
    """The path under which a wheel's METADATA is kept and served, byte for byte."""
    return f"{FILES_PREFIX}{digest.removeprefix('sha256:')}/{filename}{METADATA_SUFFIX}"


def _digests(sent: SentFile, claims: Claims) -> dict[str, str]:
    """Return the file's digests that are claimed, as hexadecimal digits by the claims' words for them."""
    hashes = {name: make() for name, make in OTHER_DIGESTS.items() if claims.of(name)}
    sent.stream.seek(0)
    while hashes and (chunk := sent.stream.read(CHUNK_BYTES)):
        for one in hashes.values():
            one.update(chunk)
    found = {name: one.hexdigest() for name, one in hashes.items()}
    return {SHA256_FIELD: sent.digest.removeprefix("sha256:"), **found}


def _standing(connection: Connection, named: NamedFile, sent: SentFile, deed: Deed) -> StoredFile | None:
    """Return the same file if it stands already, None if the way is free; raises where it isn't."""
    check_owner(connection, named.name, deed.account, hint=RENAMING)
    standing = find_file(connection, named.filename)
    release = find_release(connection, named.name, named.version)
    if standing is not None and standing.digest == sent.digest:
        check_open(release, named.name)
        return standing
    others = list_filenames(connection, release.release_id, named.kind) if release else []
    same = next((other for other in others if parse_filename(other).key == named.key), "")
    if same:
        raise _taken(connection, same, sent)
    check_open(release, named.name)
    return None


def _taken(connection: Connection, same: str, sent: SentFile) -> Conflict:
    published = find_file(connection, same)
    if published is not None and published.digest == sent.digest:
        return Conflict(
            f"File already exists: these bytes are published as {same}",
            why=f"{sent.filename} is another spelling of that name",
            hint=f"there is nothing to do, or send it again as {same}",
        )
    return Conflict(
        f"File already exists: {same} is published, with other content",
        why=f"sent {sent.filename} with {sent.digest}",
        hint="a published file never changes: raise the version",
    )


def _commit(
    connection: Connection, named: NamedFile, sent: SentFile, content: Content, deed: Deed
) -> tuple[StoredFile | None, str]:
    # Looked at again: between the first look and this transaction another upload may have won.
    if (standing := _standing(connection, named, sent, deed)) is not None:
        return standing, standing.version
    file = NewFile(
        kind=named.kind,
        filename=named.filename,
        digest=sent.digest,
        size=sent.size,
        tree_digest=content.tree_digest,
        requires=content.requires,
        needs=content.needs,
        manifest=content.manifest,
        requires_python=content.requires_python,
        metadata_digest=content.metadata_digest,
    )
    if content.metadata:
        put_document(connection, metadata_path(sent.digest, named.filename), content.metadata)
    return None, add_file(connection, named.name, content.version, file, deed)


def _answer(name: PackName, standing: StoredFile, deed: Deed) -> Published:
    return Published(
        name=name,
        version=standing.version,
        publisher=deed.account.publisher,
        tree_digest=standing.tree_digest,
        archive_digest=standing.digest,
        url=release_path(name, standing.version),
        created=False,
    )
