"""A bundle: one file with archives and the documents of an index, for machines without network. Unpacked, it is a static index.

    bundle.json                         what was asked for, where each pack came from, and what it lacks
    v1/packs/NAME/index.json            the documents, as an index serves them
    v1/packs/NAME/VERSION/index.json
    v1/blobs/sha256/HEX                 the archives

The zip itself is canonical, so that every byte of it is accounted for. Finding and resolving packs is the caller's.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from market.client import wire
from market.errors import MarketError, Untrusted
from market.installer.acquire import WHEEL
from market.installer.composition import compose
from market.installer.receipt import BUNDLE_KIND, Origin
from market.installer.transaction import Arrival
from market.names import parse_digest, parse_pack_name, parse_publisher_name, parse_version
from market.pack.archive_read import read_archive
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.record import dump_record
from market.pack.source import SourceFile
from market.pack.zip_format import MAX_ARCHIVE_BYTES, Limits
from market.trust.verify import Promise, verify_made

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.installer.composition import Composition
    from market.pack.source import Source
    from market.trust.verify import VerifiedPack

BUNDLE_SCHEMA = 1
BUNDLE_FILE = "bundle.json"
BUNDLE_LIMITS = Limits(archive_bytes=2 << 30, file_bytes=MAX_ARCHIVE_BYTES, files=5_000)
SPOOL_BYTES = 8 << 20
PACK_DEPTH, RELEASE_DEPTH = 2, 3

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BundledPack:
    """One pack that goes into a bundle, with its two documents; `is_asked_for` where it isn't there for others only."""

    arrival: Arrival
    document: wire.PackDocument
    release: wire.ReleaseDocument
    is_asked_for: bool = True

    @property
    def composition(self) -> Composition | None:
        """What a wheel pack is composed of; see `composition_of`."""
        return compose(self.arrival.verified)


def find_missing(packs: Sequence[BundledPack]) -> tuple[tuple[str, str], ...]:
    """Return which packs are required by some and aren't among them, as (name, requirement)."""
    there = {pack.release.name for pack in packs}
    return tuple(
        (pack.release.name, str(required))
        for pack in packs
        for required in pack.arrival.verified.pack.requires
        if required.name not in there
    )


def bundle_pack(
    arrival: Arrival, release: wire.ReleaseDocument, updated_at: str = "", *, is_asked_for: bool = True
) -> BundledPack:
    """Return a pack with documents whose links stay inside the bundle, and that speak of this one release.

    Of a wheel the bundle has the archive that was made of it and of what it depends on, so its documents speak of that.
    """
    if release.archive.kind == WHEEL or release.archive.digest != arrival.verified.archive_digest:
        release = _describe_made(arrival.verified, release)
    digest = str(arrival.verified.archive_digest)
    link = replace(release.archive, url=wire.blob_link(digest, depth=RELEASE_DEPTH))
    release = replace(release, archive=link, files=())
    row = wire.ReleaseSummary(
        release.version,
        release.state,
        release.published_at,
        release.tree_digest,
        replace(link, url=wire.blob_link(digest, depth=PACK_DEPTH)),
        f"{release.version}/index.json",
        release.yanked_reason,
        release.requires,
        release.needs,
    )
    document = wire.PackDocument(
        release.name, release.publisher, release.summary, release.version, updated_at or release.published_at, (row,)
    )
    return BundledPack(arrival, document, release, is_asked_for)


def _describe_made(verified: VerifiedPack, release: wire.ReleaseDocument) -> wire.ReleaseDocument:
    link = wire.ArchiveLink(verified.archive_digest, verified.archive.seek(0, 2), "")
    record = list(dump_record(verified.record))
    return replace(release, archive=link, tree_digest=verified.tree_digest, record=record)


def describe_release(arrival: Arrival, now: str) -> wire.ReleaseDocument:
    """Return the document of a pack that no index has described."""
    verified = arrival.verified
    pack = verified.pack
    return wire.ReleaseDocument(
        name=verified.name,
        version=verified.version.text,
        publisher=arrival.publisher,
        state="live",
        published_at=now,
        kind=pack.kind,
        summary=pack.summary,
        tree_digest=verified.tree_digest,
        archive=wire.ArchiveLink(verified.archive_digest, verified.archive.seek(0, 2), ""),
        skills=tuple(
            wire.SkillSummary(one.name, one.kind, one.skill_class, one.description, one.folder, one.category)
            for one in pack.skills
        ),
        record=list(dump_record(verified.record)),
        license=pack.license,
        homepage=pack.homepage,
        repository=pack.repository,
        keywords=pack.keywords,
        categories=pack.categories,
        requires=tuple(str(one) for one in pack.requires),
    )


def write_bundle(packs: Sequence[BundledPack], out: BinaryIO) -> None:
    """Write a bundle; the same packs give the same bytes."""
    missing = find_missing(packs)
    rows = [_dump_row(pack, missing) for pack in sorted(packs, key=lambda pack: pack.document.name)]
    contents: dict[str, bytes | BinaryIO] = {BUNDLE_FILE: _encode({"schema": BUNDLE_SCHEMA, "packs": rows})}
    for pack in packs:
        contents[_inside(wire.pack_path(pack.document.name))] = _encode(wire.dump_document(pack.document))
        contents[_inside(wire.release_path(pack.release.name, pack.release.version))] = _encode(
            wire.dump_document(pack.release)
        )
        verified = pack.arrival.verified
        contents[_inside(wire.blob_path(verified.archive_digest))] = verified.archive
    write_archive(_Contents(contents), out, BUNDLE_LIMITS)


def open_bundle(stream: BinaryIO, location: str) -> tuple[tuple[Arrival, ...], tuple[str, ...]]:
    """Read a bundle and verify every pack in it against its documents; returns the arrivals and the names that were asked for.

    `stream` must stay open until they are installed. Raises `Untrusted` for anything that isn't as it was exported.
    """
    source = read_archive(stream, BUNDLE_LIMITS)
    used = {BUNDLE_FILE}
    rows = _parse_rows(_read(source, BUNDLE_FILE))
    arrivals = tuple(_open_pack(source, row, location, used) for row in rows)
    foreign = sorted({file.path for file in source.files()} - used)
    if foreign:
        raise _refuse(f"nothing in it speaks of {foreign[0]!r}")
    return arrivals, tuple(str(row["name"]) for row in rows if row["asked_for"])


class _Contents:
    """A tree of bytes and open files, for the writer."""

    name = ""

    def __init__(self, contents: dict[str, bytes | BinaryIO]) -> None:
        self._contents = contents

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        return [SourceFile(path, self._size(path)) for path in sorted(self._contents, key=str.encode)]

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        content = self._contents[path]
        if isinstance(content, bytes):
            return content
        content.seek(0)
        return content.read()

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return io.BytesIO(self.read(path))

    def _size(self, path: str) -> int:
        content = self._contents[path]
        return len(content) if isinstance(content, bytes) else content.seek(0, 2)


def _dump_row(pack: BundledPack, missing: Sequence[tuple[str, str]]) -> dict[str, object]:
    """Return a pack's row; what it lacks is for readers, as the archive itself says it to an import."""
    return {
        "name": pack.release.name,
        "version": pack.release.version,
        "index": pack.arrival.origin.index,
        "asked_for": pack.is_asked_for,
        "left_out": list(pack.composition.left_out) if pack.composition else [],
        "missing_requires": [requires for name, requires in missing if name == pack.release.name],
    }


def _parse_rows(value: object) -> list[dict[str, Any]]:
    match value:
        case {"schema": 1, "packs": [*rows]}:
            for row in rows:
                match row:
                    case {"name": str(), "version": str(), "index": str(), "asked_for": bool()}:
                        continue
                raise _refuse(f"a row of {BUNDLE_FILE} reads {str(row)[:80]!r}")
            return rows
        case {"schema": int(schema)} if schema > BUNDLE_SCHEMA:
            raise Untrusted(f"the bundle has schema {schema}", why="a newer Market wrote it", hint="upgrade Market")
    raise _refuse(f"{BUNDLE_FILE} isn't what an export writes")


def _open_pack(source: Source, row: dict[str, Any], location: str, used: set[str]) -> Arrival:
    name, version = row["name"], row["version"]
    paths = _inside(wire.pack_path(name)), _inside(wire.release_path(name, version))
    document = _parse(wire.PackDocument, _read(source, paths[0]), paths[0])
    release = _parse(wire.ReleaseDocument, _read(source, paths[1]), paths[1])
    _check_agreement(row, document, release)
    if release.archive.kind == WHEEL:
        raise _refuse(f"it has {name} as a wheel, without what it depends on; an export puts archives into it")
    blob = _inside(wire.blob_path(release.archive.digest))
    used.update((*paths, blob))
    verified = _verify(source, blob, release)
    publisher = str(parse_publisher_name(release.publisher)) if release.publisher else ""
    return Arrival(verified, publisher, Origin(BUNDLE_KIND, location, row["index"]))


def _verify(source: Source, blob: str, release: wire.ReleaseDocument) -> VerifiedPack:
    archive = _spool(source, blob)
    try:
        promise = Promise(
            parse_pack_name(release.name),
            parse_version(release.version),
            parse_digest(release.archive.digest),
            parse_digest(release.tree_digest),
        )
    except MarketError as error:
        raise _refuse(error.message) from None
    return verify_made(archive, Given(), promise)


def _spool(source: Source, blob: str) -> BinaryIO:
    """Copy an archive out of the bundle: its reader wants a stream of its own, and a bundle may be larger than the memory."""
    out = cast("BinaryIO", tempfile.SpooledTemporaryFile(SPOOL_BYTES))  # noqa: SIM115 - open until the pack is installed
    try:
        with source.open(blob) as stream:
            shutil.copyfileobj(stream, out)
    except KeyError:
        raise _refuse(f"it lacks {blob}") from None
    out.seek(0)
    return out


def _check_agreement(row: dict[str, Any], document: wire.PackDocument, release: wire.ReleaseDocument) -> None:
    said = [(one.version, one.tree_digest, one.archive.digest, one.state) for one in document.releases]
    found = release.version, release.tree_digest, release.archive.digest, release.state
    names = {row["name"], document.name, release.name}
    if (
        len(names) > 1
        or said != [found]
        or row["version"] != release.version
        or document.publisher != release.publisher
    ):
        raise _refuse(f"its documents of {row['name']} {row['version']} disagree")


def _parse(shape: type[T], value: object, where: str) -> T:
    try:
        return wire.parse_document(shape, value, where)
    except wire.BadDocument as error:
        raise _refuse(str(error)) from None


def _read(source: Source, path: str) -> object:
    try:
        return json.loads(_read_bytes(source, path))
    except (ValueError, RecursionError) as error:
        raise _refuse(f"{path} is not JSON: {error}") from None


def _read_bytes(source: Source, path: str) -> bytes:
    try:
        return source.read(path)
    except KeyError:
        raise _refuse(f"it lacks {path}") from None


def _inside(path: str) -> str:
    return path.removeprefix("/")


def _encode(values: object) -> bytes:
    return json.dumps(values, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


def _refuse(why: str) -> Untrusted:
    return Untrusted("the bundle is refused", why=why, hint="export it again, and carry it over whole")
