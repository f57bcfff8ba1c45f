"""The JSON documents that clients read, made from what the database holds.

They are written in the publish transaction and served as they are. Those of the Simple API are in `index.simple`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from index.model import FileKind, ReleaseState
from market.client.wire import (
    ArchiveLink,
    FileLink,
    PackDocument,
    ReleaseDocument,
    ReleaseSummary,
    SkillSummary,
    blob_link,
    dump_problem,
    file_link,
)
from market.names import parse_version
from market.pack.entry import resolve_entry
from market.pack.record import dump_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from market.errors import Problem
    from market.model import Needs, Pack, Skill
    from market.pack.record import Record

# How many folders below `/v1` a document lies.
PACK_DEPTH = 2
RELEASE_DEPTH = 3
# What can be installed, best first. An sdist is kept for download only.
INSTALLED_KINDS = (FileKind.ARCHIVE, FileKind.WHEEL)


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file of a release as the database holds it. `requires` and `needs` are JSON text."""

    file_id: int
    kind: str
    filename: str
    digest: str
    size: int
    uploaded_at: str
    tree_digest: str
    requires_python: str
    metadata_digest: str
    requires: str
    needs: str


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A release as the database holds it, its files in the order in which they came."""

    version: str
    state: str
    yanked_reason: str
    published_at: str
    files: tuple[FileRow, ...]

    @property
    def leading(self) -> FileRow | None:
        """The file that an install takes and that speaks for the release: the archive, else the first wheel; None for a mere sdist."""
        return next((file for kind in INSTALLED_KINDS for file in self.files if file.kind == kind), None)


def make_manifest(pack: Pack, record: Record, problems: Iterable[Problem]) -> dict[str, Any]:
    """Return what a release document says of the pack itself; this never changes after the publish."""
    return {
        "kind": pack.kind,
        "summary": pack.summary,
        "skills": [asdict(summarise_skill(skill)) for skill in pack.skills],
        "record": dump_record(record),
        "license": pack.license,
        "homepage": pack.homepage,
        "repository": pack.repository,
        "keywords": list(pack.keywords),
        "categories": list(pack.categories),
        "problems": [dump_problem(problem) for problem in problems],
    }


def summarise_skill(skill: Skill) -> SkillSummary:
    """Return a skill as far as choosing needs it."""
    command = skill.command
    entry = (resolve_entry(skill.folder, command.entry) or command.entry) if command else ""
    return SkillSummary(
        skill.name,
        str(skill.kind),
        str(skill.skill_class),
        skill.description,
        skill.folder,
        skill.category,
        entry,
        command.env_allow if command else (),
        dump_needs(skill.needs),
    )


def dump_needs(needs: Needs) -> dict[str, Any]:
    """Return what a pack needs from the machine, leaving out what it doesn't."""
    return {name: value for name, value in asdict(needs).items() if value}


def make_release_document(name: str, publisher: str, row: ReleaseRow, leading: FileRow, manifest: str) -> bytes:
    """Return the bytes of `/v1/packs/NAME/VERSION/index.json`; `manifest` is the leading file's."""
    values = json.loads(manifest)
    values["skills"] = tuple(SkillSummary(**skill) for skill in values["skills"])
    return msgspec.json.encode(
        ReleaseDocument(
            name=name,
            publisher=publisher,
            version=row.version,
            state=row.state,
            published_at=row.published_at,
            yanked_reason=row.yanked_reason,
            tree_digest=leading.tree_digest,
            archive=_archive(leading, RELEASE_DEPTH),
            requires=tuple(json.loads(leading.requires)),
            needs=json.loads(leading.needs),
            files=tuple(_file(file) for file in row.files),
            **values,
        )
    )


def make_pack_document(name: str, publisher: str, summary: str, updated_at: str, rows: Sequence[ReleaseRow]) -> bytes:
    """Return the bytes of `/v1/packs/NAME/index.json`; `rows` are the installable releases, newest version first."""
    return msgspec.json.encode(
        PackDocument(
            name=name,
            publisher=publisher,
            summary=summary,
            latest=find_latest(rows),
            updated_at=updated_at,
            releases=tuple(_summarise(row, leading) for row in rows if (leading := row.leading) is not None),
        )
    )


def sort_releases(rows: Iterable[ReleaseRow]) -> list[ReleaseRow]:
    """Return releases, newest version first."""
    return sorted(rows, key=lambda row: parse_version(row.version), reverse=True)


def find_latest(ordered: Iterable[ReleaseRow]) -> str:
    """Return the version that an install without a version takes: the newest live one, a pre-release only where nothing else is live."""
    live = [row.version for row in ordered if row.state == ReleaseState.LIVE and row.leading is not None]
    final = [version for version in live if not parse_version(version).is_prerelease]
    return next(iter(final or live), "")


def _summarise(row: ReleaseRow, leading: FileRow) -> ReleaseSummary:
    return ReleaseSummary(
        version=row.version,
        state=row.state,
        published_at=row.published_at,
        tree_digest=leading.tree_digest,
        archive=_archive(leading, PACK_DEPTH),
        url=f"{row.version}/index.json",
        yanked_reason=row.yanked_reason,
        requires=tuple(json.loads(leading.requires)),
        needs=json.loads(leading.needs),
    )


def _archive(file: FileRow, depth: int) -> ArchiveLink:
    filename = file.filename if file.kind == FileKind.WHEEL else ""
    return ArchiveLink(file.digest, file.size, blob_link(file.digest, depth=depth), file.kind, filename)


def _file(file: FileRow) -> FileLink:
    if file.kind == FileKind.ARCHIVE:
        url = blob_link(file.digest, depth=RELEASE_DEPTH)
    else:
        url = file_link(file.digest, file.filename, depth=RELEASE_DEPTH + 1)
    return FileLink(
        file.kind, file.filename, file.digest, file.size, url, file.uploaded_at, file.tree_digest, file.requires_python,
        file.metadata_digest,
    )  # fmt: skip
