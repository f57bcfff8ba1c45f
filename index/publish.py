"""Accept an archive as a release: a list of named steps. How the bytes arrived is not known here.

Order of durability: the blob first (an orphan is harmless), then one transaction with the release, its documents and its search row.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

from index.commit import Deed, add_file, check_open, check_owner
from index.documents import dump_needs, make_manifest
from index.model import Account, FileKind
from index.screening import Screened, screen, tell_published
from index.store.releases import NewFile, StoredFile, find_archive, find_release
from market.client.wire import Published, dump_problem, release_path
from market.disk.foreign import open_canonical
from market.errors import Conflict, InvalidInput, Severity
from market.pack.archive_read import read_archive
from market.pack.inspect import Given, inspect_pack
from market.trust.verify import VerifiedPack, verify_archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from index.store.blobs import FolderBlobs
    from index.store.database import Database
    from market.disk.foreign import Canonical
    from market.errors import Problem
    from market.names import PackName, Version


@dataclass(frozen=True, slots=True)
class Upload:
    """An archive that arrived for a name and a version: an open file in the blobs' `incoming` folder."""

    name: PackName
    version: Version
    stream: IO[bytes]
    path: Path
    size: int


def accept(database: Database, blobs: FolderBlobs, upload: Upload, deed: Deed) -> Published:
    """Make a release of an upload, or say why not.

    An archive of another program is imported first, and the answer's problems say what was changed.
    Raises `Untrusted` for a damaged archive, `InvalidInput` with every problem of the pack, `Refused` for another publisher's
    name and `Conflict` for another tree under this version. The same tree again is a success with `created` False.
    What is new is screened (`index.screening`), and the plugins are told of it.
    """
    findings: tuple[Problem, ...] = ()
    with _canonical(upload) as archive:
        verified = _verify(upload, archive)
        _check_publishable(verified)
        with database.read() as connection:
            standing = _standing(connection, verified, deed.account)
        version = standing.version if standing else ""
        if standing is None:
            sent = Screened(_filename(verified), verified.pack, verified.source)
            findings = screen(database, sent, deed)
            blobs.keep(archive.path or upload.path, verified.archive_digest)
            with database.write() as connection:
                standing, version = _commit(connection, verified, deed, archive.size)
            if standing is None:
                tell_published(sent, verified.tree_digest, deed)
        answer = _answer(verified, deed.account, standing, version, archive.changes)
        return replace(answer, findings=tuple(map(dump_problem, findings)))


@contextmanager
def _canonical(upload: Upload) -> Iterator[Canonical]:
    """Yield the upload, or the import of one that another program made; it lies beside the upload, so that it can be kept."""
    given = Given(name=upload.name, version=upload.version.text)
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(open_canonical(upload.stream, given, upload.path.parent))  # type: ignore[arg-type]
        except InvalidInput as error:
            raise _not_publishable(upload, error.message, error.problems) from None
        yield archive


def _verify(upload: Upload, archive: Canonical) -> VerifiedPack:
    given = Given(name=upload.name, version=upload.version.text)
    try:
        return verify_archive(archive.stream, given)
    except InvalidInput as error:
        # The author wants to see everything at once, warnings and refusals too; only a broken pack pays for the second look.
        inspection = inspect_pack(read_archive(archive.stream), given)
        raise _not_publishable(upload, error.message, inspection.problems or error.problems) from None


def _not_publishable(upload: Upload, why: str, problems: tuple[Problem, ...]) -> InvalidInput:
    return InvalidInput(
        f"{upload.name} {upload.version} can't be published",
        why=why,
        hint="run `market check` on the folder",
        problems=problems,
    )


def _check_publishable(verified: VerifiedPack) -> None:
    refusals = [problem for problem in verified.problems if problem.severity is not Severity.WARNING]
    if refusals:
        raise InvalidInput(
            f"{verified.name} {verified.version} can't be published",
            why=refusals[0].text,
            hint="run `market check` on the folder and correct what it names",
            problems=verified.problems,
        )


def _standing(connection: Connection, verified: VerifiedPack, account: Account) -> StoredFile | None:
    """Return the same archive if it stands already, None if the way is free; raises where it isn't."""
    check_owner(connection, verified.name, account, hint="publish under another name with --name")
    release = find_release(connection, verified.name, verified.version)
    standing = find_archive(connection, release.release_id) if release else None
    if standing is not None and standing.tree_digest != verified.tree_digest:
        raise Conflict(
            f"{verified.name} {standing.version} is published already, with other content",
            why=f"published {standing.tree_digest}, sent {verified.tree_digest}",
            hint="a release never changes: publish under a new version, for example with --version auto",
        )
    check_open(release, verified.name)
    return standing


def _commit(connection: Connection, verified: VerifiedPack, deed: Deed, size: int) -> tuple[StoredFile | None, str]:
    # Looked at again: between the first look and this transaction another publish may have won.
    if (standing := _standing(connection, verified, deed.account)) is not None:
        return standing, standing.version
    return None, add_file(connection, verified.name, verified.version, _describe(verified, size), deed)


def _filename(verified: VerifiedPack) -> str:
    return f"{verified.name}-{verified.version}.zip"


def _describe(verified: VerifiedPack, size: int) -> NewFile:
    pack = verified.pack
    manifest = make_manifest(pack, verified.record, verified.problems)
    return NewFile(
        kind=FileKind.ARCHIVE,
        filename=_filename(verified),
        digest=verified.archive_digest,
        size=size,
        tree_digest=verified.tree_digest,
        requires=json.dumps([str(requirement) for requirement in pack.requires]),
        needs=json.dumps(dump_needs(pack.needs)),
        manifest=json.dumps(manifest, ensure_ascii=False),
    )


def _answer(
    verified: VerifiedPack,
    account: Account,
    standing: StoredFile | None,
    version: str,
    changes: tuple[Problem, ...],
) -> Published:
    return Published(
        name=verified.name,
        version=version,
        publisher=account.publisher,
        tree_digest=verified.tree_digest,
        archive_digest=standing.digest if standing else verified.archive_digest,
        url=release_path(verified.name, version),
        created=standing is None,
        problems=tuple(dump_problem(problem) for problem in (*changes, *verified.problems)),
    )
