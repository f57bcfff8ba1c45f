"""How packs of an index are shown: lists and one pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.cli.text import shorten, size_text, table_lines
from market.client.wire import dump_document

if TYPE_CHECKING:
    from market.client.wire import PackDocument, PackList, ReleaseDocument


def pack_list_document(found: PackList, url: str) -> dict[str, Any]:
    """Return a list of packs as `--json` prints it."""
    document = dump_document(found)
    return {"index": url, "total": found.total, "items": document["items"]}


def pack_list_lines(found: PackList, url: str, nothing: str) -> list[str]:
    """Return a list of packs as a table, or the sentence for none."""
    if not found.items:
        return [nothing]
    rows = [(item.name, item.version, item.publisher, shorten(item.summary, 60)) for item in found.items]
    more = [f"{len(rows)} of {found.total} packs on {url}; more with --limit"] if found.total > len(rows) else []
    return [*table_lines(("NAME", "VERSION", "PUBLISHER", "SUMMARY"), rows), *more]


def pack_lines(document: PackDocument, release: ReleaseDocument, url: str) -> list[str]:
    """Return a pack with one of its releases in full."""
    facts = {
        "publisher": release.publisher,
        "license": release.license,
        "homepage": release.homepage,
        "repository": release.repository,
        "keywords": ", ".join(release.keywords),
        "requires": ", ".join(release.requires),
        "published": release.published_at,
    }
    places = {"tree": release.tree_digest, "page": f"{url}/packs/{document.name}"}
    known = [*facts.items(), *_file_facts(release), *places.items()]
    skills = [(skill.name, skill.kind, skill.skill_class, shorten(skill.description, 70)) for skill in release.skills]
    releases = [(row.version, row.state, row.published_at, row.yanked_reason) for row in document.releases]
    return [
        f"{document.name} {release.version}" + ("" if release.state == "live" else f" ({release.state})"),
        *([release.summary] if release.summary else []),
        *(f"  {label + ':':<11} {value}" for label, value in known if value),
        "",
        *table_lines(("SKILL", "KIND", "CLASS", "DESCRIPTION"), skills),
        "",
        *table_lines(("RELEASE", "STATE", "PUBLISHED", ""), releases),
    ]


def _file_facts(release: ReleaseDocument) -> list[tuple[str, str]]:
    """Return each file of a release; an index of an older version names the archive alone."""
    if not release.files:
        return [(release.archive.kind, f"{size_text(release.archive.size)}, {release.archive.digest}")]
    return [(file.kind, f"{size_text(file.size)}, {file.digest}, {file.filename}") for file in release.files]
