"""Only here is a `VerifiedPack` made: an archive whose bytes, tree and manifest are what they claim to be.

The archive comes as an open stream; where it was downloaded from, and where it is unpacked to, isn't known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.errors import InvalidInput, Untrusted, naming
from market.names import Digest
from market.pack.archive_read import read_archive, refuse_archive
from market.pack.archive_write import canonical_source
from market.pack.inspect import Given, Inspection, inspect_pack
from market.pack.record import Record, hash_stream, make_record
from market.pack.wheel import read_wheel
from market.pack.wheel_record import check_record
from market.pack.wheel_tree import find_dist_info

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.errors import Problem
    from market.model import Pack
    from market.names import PackName, Version
    from market.pack.source import Source

    # A tree, and the verdict on it where it is known already.
    _Read = tuple[Source, Inspection | None]

_SEAL = object()


@dataclass(frozen=True, slots=True)
class Promise:
    """What an index's document says of a release's archive."""

    name: PackName
    version: Version
    archive_digest: Digest
    tree_digest: Digest


class VerifiedPack:
    """A pack that may be installed. The functions below make it (the constructor asks for this file's seal).

    `archive` is the open stream that was verified, and `source` reads from it.
    """

    __slots__ = ("archive", "archive_digest", "pack", "problems", "record", "source", "version")

    def __init__(
        self,
        seal: object,
        pack: Pack,
        version: Version,
        record: Record,
        source: Source,
        archive: BinaryIO,
        archive_digest: Digest,
        problems: tuple[Problem, ...],
    ) -> None:
        if seal is not _SEAL:
            raise TypeError("a VerifiedPack is made by market.trust.verify only")
        self.pack = pack
        self.version = version
        self.record = record
        self.source = source
        self.archive = archive
        self.archive_digest = archive_digest
        self.problems = problems

    @property
    def name(self) -> PackName:
        """The pack's name."""
        return self.pack.name

    @property
    def tree_digest(self) -> Digest:
        """The identity of the tree that will be unpacked."""
        return self.record.tree_digest


def verify_archive(stream: BinaryIO, given: Given, promise: Promise | None = None) -> VerifiedPack:
    """Read an archive strictly, hash its tree, parse its manifests and hold all of it against the index's promise.

    `stream` must be seekable and stay open as long as the result is used. `given` names what the archive itself doesn't say.
    Raises `Untrusted` where a digest or the structure is wrong and `InvalidInput` where the pack has an error or no version.
    """
    with naming(f"{promise.name} {promise.version}" if promise else given.name):
        return _verify(stream, _read_archive, given, promise)


def verify_made(stream: BinaryIO, given: Given, promise: Promise | None = None) -> VerifiedPack:
    """Verify an archive that Market made, on this machine or for a bundle, as `verify_archive` does those of others.

    Beside a wheel it may hold what was fetched for it, which no RECORD speaks of: whether that may be used here is the caller's.
    """
    with naming(f"{promise.name} {promise.version}" if promise else given.name):
        return _verify(stream, _read_archive, given, promise, made_here=True)


def verify_wheel(stream: BinaryIO, file_name: str = "", promise: Promise | None = None) -> VerifiedPack:
    """Read a wheel strictly, RECORD included, and hold it against the index's promise, as `verify_archive` does.

    `file_name` must agree with what the wheel says of itself; empty where it isn't known. No code of the wheel is run.
    The result has the wheel's own files; what it depends on isn't known here.
    """

    def read(opened: BinaryIO, given: Given) -> _Read:
        source = read_wheel(opened, file_name).source
        inspection = inspect_pack(source, given)
        canonical = canonical_source(source, inspection.pack) if inspection.pack else source
        # Only a tree whose executable bits became others reads otherwise now.
        return canonical, inspection if list(canonical.files()) == list(source.files()) else None

    with naming(file_name):
        return _verify(stream, read, Given(), promise)


def _read_archive(stream: BinaryIO, _given: Given) -> _Read:
    """Read an archive; one that holds a wheel's tree is held against its RECORD, as the wheel itself would be."""
    source = read_archive(stream)
    if find_dist_info([file.path for file in source.files()]) and (problems := check_record(source)):
        raise refuse_archive(problems)
    return source, None


def _verify(
    stream: BinaryIO,
    read: Callable[[BinaryIO, Given], _Read],
    given: Given,
    promise: Promise | None,
    *,
    made_here: bool = False,
) -> VerifiedPack:
    stream.seek(0)
    _, sha256 = hash_stream(stream)
    archive_digest = Digest(f"sha256:{sha256}")
    if promise is not None:
        _check_same("archive", promise.archive_digest, archive_digest)
        given = Given(name=promise.name, version=promise.version.text)
    source, inspection = read(stream, given)
    record = make_record(source)
    if promise is not None:
        _check_same("tree", promise.tree_digest, record.tree_digest)
    inspection = inspection or inspect_pack(source, given, made_here=made_here)
    if inspection.pack is None or inspection.archive_blockers:
        name = inspection.pack.name if inspection.pack else given.name
        raise InvalidInput(
            f"{name or 'this'} is not a good pack", problems=inspection.archive_blockers or inspection.problems
        )
    version = inspection.pack.version
    if version is None:
        raise InvalidInput(
            f"the pack {inspection.pack.name!r} has no version",
            hint="give one with --version, or write it into pack.yaml",
        )
    return VerifiedPack(_SEAL, inspection.pack, version, record, source, stream, archive_digest, inspection.problems)


def _check_same(what: str, promised: Digest, found: Digest) -> None:
    if promised != found:
        raise Untrusted(
            f"the {what} is not the one that the index promised",
            why=f"promised {promised}, got {found}",
            hint="try again; if it stays, tell the index's operator: a proxy or the index serves wrong bytes",
        )
