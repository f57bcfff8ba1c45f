"""From a requirement, or from an archive that somebody sent, to an `Arrival` that may be installed.

The command line and the host share this road. Where it is unpacked to, and who may ask for it, isn't here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from market.errors import NotFound, Untrusted
from market.installer.receipt import Origin
from market.installer.transaction import Arrival
from market.names import parse_digest, parse_pack_name, parse_publisher_name, parse_version
from market.pack.inspect import Given
from market.resolve.choose import choose_release
from market.trust.verify import Promise, verify_archive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.client.index_client import IndexClient
    from market.client.wire import PackDocument, ReleaseDocument, ReleaseSummary
    from market.disk.foreign import Canonical
    from market.names import Requirement


def acquire(index: IndexClient, requirement: Requirement) -> Arrival:
    """Resolve a requirement on one index, download the archive, and hold it against what the index promised.

    Raises `NotFound` where no release fits and `Untrusted` where bytes or documents disagree.
    """
    document = index.pack(requirement.name)
    chosen = choose_release(requirement, document)
    release = index.release(document.name, chosen.version)
    promise = _promise(document, chosen, release)
    verified = verify_archive(index.download_archive(release), Given(), promise)
    return Arrival(
        verified, str(parse_publisher_name(document.publisher)), Origin("index", release.archive.url, index.url)
    )


def acquire_first(indexes: Sequence[IndexClient], requirement: Requirement) -> Arrival:
    """Acquire from the first index that knows the pack.

    Only an unknown name leads to the next index: one that refuses, fails or has no release that fits ends the search, so that
    nobody can slip a pack of the same name in between.
    """
    for index in indexes[:-1]:
        try:
            index.pack(requirement.name)
        except NotFound:
            continue
        return acquire(index, requirement)
    return acquire(indexes[-1], requirement)


def acquire_archive(stream: BinaryIO, given: Given, origin: Origin, *, publisher: str = "") -> Arrival:
    """Verify an archive that came from elsewhere than an index. `stream` must stay open until it is installed."""
    return Arrival(verify_archive(stream, given), publisher, origin)


def acquire_imported(archive: Canonical, origin: Origin) -> Arrival:
    """Verify an archive that may have been imported; the arrival says what was changed."""
    return Arrival(verify_archive(archive.stream, archive.given), "", origin, archive.changes)


def _promise(document: PackDocument, chosen: ReleaseSummary, release: ReleaseDocument) -> Promise:
    # The two documents may come from different caches; a release that differs from its row is neither of them.
    promised = chosen.version, chosen.tree_digest, chosen.archive.digest, document.publisher
    found = release.version, release.tree_digest, release.archive.digest, release.publisher
    if promised != found:
        raise Untrusted(
            f"the index's documents of {document.name} {chosen.version} disagree",
            why=f"the pack's page says {' '.join(promised)}, the release's own {' '.join(found)}",
            hint="try again; if it stays, tell the index's operator",
        )
    version, tree, archive, _ = promised
    return Promise(parse_pack_name(document.name), parse_version(version), parse_digest(archive), parse_digest(tree))
