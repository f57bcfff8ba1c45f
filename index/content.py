"""What a wheel or an sdist says of itself, read out of the file and never out of what the sender claims.

A wheel is read as strictly as an archive and must be a pack; of an sdist only PKG-INFO is read, since nobody installs it from here
without building it themselves.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from index.documents import dump_needs, make_manifest
from index.model import FileKind
from market.errors import InvalidInput, Severity
from market.names import Version, parse_version
from market.pack.foreign_tar import read_foreign_tar
from market.pack.gunzip import gunzip
from market.pack.inspect import Given, inspect_pack
from market.pack.record import make_record
from market.pack.wheel import read_wheel
from market.pack.wheel_metadata import is_same_release, parse_metadata

if TYPE_CHECKING:
    from index.filenames import NamedFile
    from market.errors import Problem
    from market.model import Pack
    from market.pack.pack_manifest import PackManifest

SCRATCH_MEMORY_BYTES = 8 << 20
# Read by nobody: an sdist never speaks for its release.
NO_MANIFEST = "{}"


@dataclass(frozen=True, slots=True)
class Content:
    """A file's own words. `metadata` are the bytes that are served beside a wheel; an sdist has none, and no tree."""

    version: Version
    requires_python: str = ""
    metadata: bytes = b""
    tree_digest: str = ""
    requires: str = "[]"
    needs: str = NO_MANIFEST
    manifest: str = NO_MANIFEST
    problems: tuple[Problem, ...] = ()

    @property
    def metadata_digest(self) -> str:
        """The digest of `metadata`, empty where there is none."""
        return f"sha256:{hashlib.sha256(self.metadata).hexdigest()}" if self.metadata else ""


def read_content(stream: BinaryIO, named: NamedFile) -> Content:
    """Read a file; raises `Untrusted` for a damaged one and `InvalidInput` with every problem for one that isn't a good pack."""
    return _read_wheel(stream, named) if named.kind is FileKind.WHEEL else _read_sdist(stream, named)


def _read_wheel(stream: BinaryIO, named: NamedFile) -> Content:
    wheel = read_wheel(stream, named.filename)
    inspection = inspect_pack(wheel.source, Given())
    pack = inspection.pack
    problems = inspection.problems
    stopping = [problem for problem in problems if problem.severity is not Severity.WARNING]
    if pack is None or pack.version is None or stopping:
        raise _refusal(named, stopping[0].text if stopping else "it holds no skill", problems)
    _check_identity(named, pack)
    record = make_record(wheel.source)
    return Content(
        version=pack.version,
        requires_python=pack.needs.python,
        metadata=wheel.source.read(f"{wheel.dist_info}/METADATA"),
        tree_digest=record.tree_digest,
        requires=json.dumps([str(requirement) for requirement in pack.requires]),
        needs=json.dumps(dump_needs(pack.needs)),
        manifest=json.dumps(make_manifest(pack, record, problems), ensure_ascii=False),
        problems=problems,
    )


def _read_sdist(stream: BinaryIO, named: NamedFile) -> Content:
    with tempfile.SpooledTemporaryFile(SCRATCH_MEMORY_BYTES) as scratch:
        tar = cast("BinaryIO", scratch)
        stream.seek(0)
        gunzip(stream, tar)
        foreign = read_foreign_tar(tar, "tar.gz")
        top = named.filename.removesuffix(".tar.gz")
        outside = next((member.path for member in foreign.members if member.path.partition("/")[0] != top), "")
        found = next((member for member in foreign.members if member.path == f"{top}/PKG-INFO"), None)
        if outside or found is None:
            why = f"{outside!r} lies outside {top}/" if outside else f"there is no {top}/PKG-INFO"
            raise _refusal(named, why, ())
        metadata = parse_metadata(foreign.read(found), "PKG-INFO")
    _check_metadata(named, metadata)
    return Content(version=parse_version(metadata.version), requires_python=metadata.needs.python)


def _check_identity(named: NamedFile, pack: Pack) -> None:
    own = pack.name, str(pack.version)
    if not is_same_release(own, (named.name, named.version.text)):
        raise _refusal(named, f"inside it is {own[0]} {own[1]}", ())


def _check_metadata(named: NamedFile, metadata: PackManifest) -> None:
    if not metadata.name or not is_same_release((metadata.name, metadata.version), (named.name, named.version.text)):
        why = f"PKG-INFO is of {metadata.name} {metadata.version}" if metadata.name else "its PKG-INFO can't be read"
        raise _refusal(named, why, metadata.problems)


def _refusal(named: NamedFile, why: str, problems: tuple[Problem, ...]) -> InvalidInput:
    return InvalidInput(
        f"{named.filename} can't be published",
        why=why,
        hint="run `market check` on it and correct what it names" if named.kind is FileKind.WHEEL else "",
        problems=problems,
    )
