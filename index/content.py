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
from market.model import Pack
from market.names import Version, parse_version
from market.pack.foreign_tar import read_foreign_tar
from market.pack.gunzip import gunzip
from market.pack.inspect import inspect_pack
from market.pack.wheel import read_wheel
from market.pack.wheel_metadata import is_same_release, parse_metadata
from market.pack.wheel_tree import find_dist_info
from market.trust.verify import verify_wheel

if TYPE_CHECKING:
    from index.filenames import NamedFile
    from market.errors import Problem
    from market.pack.pack_manifest import PackManifest
    from market.pack.source import Source

SCRATCH_MEMORY_BYTES = 8 << 20
# Read by nobody: an sdist never speaks for its release.
NO_MANIFEST = "{}"


@dataclass(frozen=True, slots=True)
class Content:
    """A file's own words. `metadata` are the bytes that are served beside a wheel; an sdist has none, no tree and no skill.

    `core_metadata` are the same bytes, and an sdist's PKG-INFO: what the sender's claims are held against.
    """

    version: Version
    pack: Pack
    source: Source | None = None
    requires_python: str = ""
    metadata: bytes = b""
    core_metadata: bytes = b""
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
    try:
        verified = verify_wheel(stream, named.filename)
    except InvalidInput as error:
        # The author wants to see everything at once; only a broken pack pays for the second look.
        problems = inspect_pack(read_wheel(stream, named.filename).source).problems or error.problems
        raise _refusal(named, problems[0].text if problems else error.message, problems) from None
    stopping = [problem for problem in verified.problems if problem.severity is not Severity.WARNING]
    if stopping:
        raise _refusal(named, stopping[0].text, verified.problems)
    pack, source = verified.pack, verified.source
    folder = find_dist_info({file.path for file in source.files()})
    core_metadata = source.read(f"{folder}/METADATA")
    return Content(
        version=verified.version,
        pack=pack,
        source=source,
        requires_python=pack.needs.python,
        metadata=core_metadata,
        core_metadata=core_metadata,
        tree_digest=verified.tree_digest,
        requires=json.dumps([str(requirement) for requirement in pack.requires]),
        needs=json.dumps(dump_needs(pack.needs)),
        manifest=json.dumps(make_manifest(pack, verified.record, verified.problems), ensure_ascii=False),
        problems=verified.problems,
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
        core_metadata = foreign.read(found)
    metadata = parse_metadata(core_metadata, "PKG-INFO")
    _check_metadata(named, metadata)
    version = parse_version(metadata.version)
    pack = Pack(named.name, version, str(named.kind), summary=metadata.summary)
    return Content(version=version, pack=pack, requires_python=metadata.needs.python, core_metadata=core_metadata)


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
