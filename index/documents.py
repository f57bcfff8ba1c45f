"""The JSON documents that clients read, made from what the database holds.

They are written in the publish transaction and served as they are.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from market.client.wire import (
    ArchiveLink,
    PackDocument,
    ReleaseDocument,
    ReleaseSummary,
    SkillSummary,
    blob_link,
    dump_problem,
)
from market.names import parse_version
from market.pack.entry import resolve_entry
from market.pack.record import dump_record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.model import Needs, Skill
    from market.trust.verify import VerifiedPack

PACK_DEPTH = 2
RELEASE_DEPTH = 3
LIVE = "live"


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """A release as the database holds it. `requires`, `needs` and `manifest` are JSON text."""

    version: str
    state: str
    yanked_reason: str
    published_at: str
    tree_digest: str
    requires: str
    needs: str
    archive_digest: str
    archive_size: int


def make_manifest(verified: VerifiedPack) -> dict[str, Any]:
    """Return what a release document says of the pack itself; this never changes after the publish."""
    pack = verified.pack
    return {
        "kind": pack.kind,
        "summary": pack.summary,
        "skills": [asdict(summarise_skill(skill)) for skill in pack.skills],
        "record": dump_record(verified.record),
        "license": pack.license,
        "homepage": pack.homepage,
        "repository": pack.repository,
        "keywords": list(pack.keywords),
        "categories": list(pack.categories),
        "problems": [dump_problem(problem) for problem in verified.problems],
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
    )


def dump_needs(needs: Needs) -> dict[str, Any]:
    """Return what a pack needs from the machine, leaving out what it doesn't."""
    return {name: value for name, value in asdict(needs).items() if value}


def make_release_document(name: str, publisher: str, row: ReleaseRow, manifest: str) -> bytes:
    """Return the bytes of `/v1/packs/NAME/VERSION/index.json`."""
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
            tree_digest=row.tree_digest,
            archive=_archive(row, RELEASE_DEPTH),
            requires=tuple(json.loads(row.requires)),
            needs=json.loads(row.needs),
            **values,
        )
    )


def make_pack_document(name: str, publisher: str, summary: str, updated_at: str, rows: Iterable[ReleaseRow]) -> bytes:
    """Return the bytes of `/v1/packs/NAME/index.json`: the releases, newest version first."""
    ordered = sort_releases(rows)
    return msgspec.json.encode(
        PackDocument(
            name=name,
            publisher=publisher,
            summary=summary,
            latest=find_latest(ordered),
            updated_at=updated_at,
            releases=tuple(_summarise(row) for row in ordered),
        )
    )


def sort_releases(rows: Iterable[ReleaseRow]) -> list[ReleaseRow]:
    """Return releases, newest version first."""
    return sorted(rows, key=lambda row: parse_version(row.version), reverse=True)


def find_latest(ordered: Iterable[ReleaseRow]) -> str:
    """Return the version that an install without a version takes: the newest live one, a pre-release only where nothing else is live."""
    live = [row.version for row in ordered if row.state == LIVE]
    final = [version for version in live if not parse_version(version).is_prerelease]
    return next(iter(final or live), "")


def _summarise(row: ReleaseRow) -> ReleaseSummary:
    return ReleaseSummary(
        version=row.version,
        state=row.state,
        published_at=row.published_at,
        tree_digest=row.tree_digest,
        archive=_archive(row, PACK_DEPTH),
        url=f"{row.version}/index.json",
        yanked_reason=row.yanked_reason,
        requires=tuple(json.loads(row.requires)),
        needs=json.loads(row.needs),
    )


def _archive(row: ReleaseRow, depth: int) -> ArchiveLink:
    return ArchiveLink(row.archive_digest, row.archive_size, blob_link(row.archive_digest, depth=depth))
