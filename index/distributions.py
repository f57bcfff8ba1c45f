"""Accept a wheel or an sdist as a file of a release. How the bytes arrived is not known here: form and PUT both end in `accept_file`.

A wheel must be a pack (entry points of the group `market.skills`); an sdist is kept for download, and only its identity is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from index.commit import Deed, add_file, check_open, check_owner
from index.content import Content, read_content
from index.filenames import NamedFile, parse_filename
from index.screening import Screened, screen, tell_published
from index.store.releases import NewFile, StoredFile, find_file, find_release, list_filenames
from index.store.written import put_document
from market.client.wire import Published, dump_problem, release_path
from market.errors import Conflict, InvalidInput
from market.names import parse_pack_name, parse_version

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

    from index.store.blobs import FolderBlobs
    from index.store.database import Database
    from market.names import Digest, PackName

FILES_PREFIX = "/files/"
METADATA_SUFFIX = ".metadata"


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that arrived: its name, an open stream in the blobs' `incoming` folder, size in bytes and digest."""

    filename: str
    stream: IO[bytes]
    path: Path
    size: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Claims:
    """What the sender says of a file; empty where nothing is said. Everything said must be true."""

    name: str = ""
    version: str = ""
    filetype: str = ""
    sha256: str = ""


def accept_file(database: Database, blobs: FolderBlobs, sent: SentFile, claims: Claims, deed: Deed) -> Published:
    """Make a wheel or an sdist a file of its release, or say why not.

    Raises `InvalidInput` where the file isn't what its name or the sender says, or is no good pack; `Untrusted` for a damaged one,
    `Refused` for another publisher's name and `Conflict` for other bytes under this name. The same bytes again are a success.
    What is new is screened (`index.screening`), and the plugins are told of it.
    """
    named = parse_filename(sent.filename)
    _check_claims(named, sent, claims)
    with database.read() as connection:
        standing = _standing(connection, named, sent, deed)
    if standing is not None:
        return _answer(named.name, standing, deed)
    content = read_content(cast("BinaryIO", sent.stream), named)
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


def _check_claims(named: NamedFile, sent: SentFile, claims: Claims) -> None:
    if claims.name and parse_pack_name(claims.name) != named.name:
        raise _false_claim("name", claims.name, sent, named.name)
    if claims.version and parse_version(claims.version) != named.version:
        raise _false_claim("version", claims.version, sent, named.version.text)
    if claims.filetype and claims.filetype != named.filetype:
        raise _false_claim("filetype", claims.filetype, sent, named.filetype)
    if claims.sha256 and f"sha256:{claims.sha256.lower()}" != sent.digest:
        raise _false_claim("sha256_digest", claims.sha256, sent, sent.digest)


def _false_claim(field: str, said: str, sent: SentFile, found: str) -> InvalidInput:
    return InvalidInput(
        f"{field} was said to be {said[:80]!r}, but of {sent.filename} it is {found!r}",
        hint="send the file as the build made it, and let the tool read these values from it",
    )


def _standing(connection: Connection, named: NamedFile, sent: SentFile, deed: Deed) -> StoredFile | None:
    """Return the same file if it stands already, None if the way is free; raises where it isn't."""
    check_owner(connection, named.name, deed.account)
    standing = find_file(connection, named.filename)
    release = find_release(connection, named.name, named.version)
    if standing is not None and standing.digest == sent.digest:
        check_open(release, named.name)
        return standing
    others = list_filenames(connection, release.release_id, named.kind) if release else []
    same = next((other for other in others if parse_filename(other).key == named.key), "")
    if same:
        raise Conflict(
            f"File already exists: {same} is published, with other content",
            why=f"sent {sent.filename} with {sent.digest}",
            hint="a published file never changes: raise the version",
        )
    check_open(release, named.name)
    return None


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
