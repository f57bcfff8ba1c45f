"""Publishing drafts: which version, and what came of it. The rules of an index are the index's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cli.plugged import new_findings
from market.cli.report import dump_problems
from market.cli.text import count_text, size_text
from market.errors import InvalidInput, NotFound
from market.names import Version, parse_version

if TYPE_CHECKING:
    from market.cli.building import Draft
    from market.client.index_client import IndexClient
    from market.client.wire import PackDocument, Published

AUTO = "auto"
FIRST_VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class Publication:
    """What happened, or would happen, to one draft: `published`, `unchanged`, `would publish`."""

    draft: Draft
    version: str
    status: str
    url: str
    publisher: str = ""
    findings: tuple[dict[str, Any], ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The publication as `--json` prints it."""
        return {
            "path": str(self.draft.folder),
            "name": self.draft.pack.name,
            "version": self.version,
            "status": self.status,
            "url": self.url,
            "publisher": self.publisher,
            "size": self.draft.built.size,
            "archive_digest": self.draft.built.archive_digest,
            "tree_digest": self.draft.built.record.tree_digest,
            "files": self.draft.files,
            "left_out": [{"path": path, "why": why} for path, why in self.draft.left_out],
            "problems": dump_problems(self.draft.problems),
            "findings": list(self.findings),
        }

    @property
    def line(self) -> str:
        """The publication as one sentence."""
        size = f"({count_text(len(self.draft.files), 'file')}, {size_text(self.draft.built.size)})"
        owner = f" as {self.publisher}" if self.publisher else ""
        return f"{self.status} {self.draft.pack.name} {self.version} {size} to {self.url}{owner}".replace(
            "unchanged ", "unchanged: ", 1
        )


def publish_draft(client: IndexClient, draft: Draft, version: str, *, dry_run: bool) -> Publication:
    """Send one draft. `version` is what `choose_version` returned."""
    if dry_run:
        is_there = _find_tree(_load_document(client, draft), draft.built.record.tree_digest) == version
        return Publication(draft, version, "unchanged" if is_there else "would publish", client.url)
    draft.stream.seek(0)
    done: Published = client.publish(draft.pack.name, version, draft.stream, draft.built.size, draft.allowed_secrets)
    status = "published" if done.created else "unchanged"
    findings = new_findings(done.findings, draft.problems)
    return Publication(draft, done.version, status, client.url, done.publisher, findings)


def choose_version(client: IndexClient, draft: Draft, *, auto: bool) -> str:
    """Return the version to publish under: the pack's own, or with `--version auto` the next patch where the tree changed."""
    own = draft.pack.version
    if not auto:
        if own is None:
            raise InvalidInput(
                f"{draft.folder} has no version",
                hint="write one into the manifest, or give --version 1.0.0 or --version auto",
            )
        return own.text
    document = _load_document(client, draft)
    taken = [parse_version(release.version) for release in document.releases] if document else []
    if not taken or document is None:
        return own.text if own else FIRST_VERSION
    newest = max(taken)
    return _find_tree(document, draft.built.record.tree_digest) or (
        own.text if own and own > newest else next_patch(newest)
    )


def next_patch(version: Version) -> str:
    """Return the version after this one: the release itself after a pre-release, else the third number plus one.

    >>> next_patch(parse_version("1.2.9")), next_patch(parse_version("2.0")), next_patch(parse_version("1.0rc1"))
    ('1.2.10', '2.0.1', '1.0')
    """
    release = list(version.key.release)
    if not version.is_prerelease:
        release += [0] * (3 - len(release))
        release[2:] = [release[2] + 1]
    return ".".join(map(str, release))


def _load_document(client: IndexClient, draft: Draft) -> PackDocument | None:
    try:
        return client.pack(draft.pack.name)
    except NotFound:
        return None


def _find_tree(document: PackDocument | None, tree_digest: str) -> str:
    """Return the newest version that has this tree already, or empty."""
    return (
        next((release.version for release in document.releases if release.tree_digest == tree_digest), "")
        if document
        else ""
    )
