"""From a chosen release, or from an archive that somebody sent, to an `Arrival` that may be installed.

The command line and the host share this road. What is chosen is decided in `closure.py`; where it is unpacked to isn't here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from market.errors import Untrusted
from market.installer.dependencies import DependencyTerms
from market.installer.made_wheels import reopen_installed
from market.installer.powers import find_widening, powers_of, powers_of_summaries
from market.installer.receipt import Origin
from market.installer.transaction import Arrival
from market.installer.wheels import acquire_wheel, check_dependencies, with_dependencies
from market.names import parse_digest, parse_pack_name, parse_publisher_name, parse_version
from market.pack.inspect import Given
from market.pack.kinds import WHEEL_KIND
from market.trust.verify import Promise, verify_archive

WHEEL = "wheel"
"""What an index's document calls a release that is a wheel."""

if TYPE_CHECKING:
    from market.client.indexes import Found, Indexes
    from market.client.wire import PackDocument, ReleaseDocument, ReleaseSummary
    from market.disk.foreign import Canonical
    from market.installer.composition import Composition
    from market.trust.verify import VerifiedPack


def acquire_release(
    indexes: Indexes,
    name: str,
    chosen: ReleaseSummary,
    dependencies: DependencyTerms = DependencyTerms(),  # noqa: B008
) -> Arrival:
    """Download a chosen release from the index that has the pack, and hold it against what the index promised.

    Of a wheel the `dependencies` are fetched too; one that is installed as it should be is taken from what is kept of it. Raises
    `Untrusted` where bytes or documents disagree.
    """
    installed = reopen_release(indexes, name, chosen, dependencies)
    if installed is not None:
        return installed
    found = indexes.find(name)
    release = indexes.release(name, chosen.version)
    promise = _promise(found.document, chosen, release)
    publisher, origin = _vouch(found, release)
    arrival = acquire_download(found.client.download_archive(release), release, promise, origin, dependencies)
    _check_classes(release, arrival.verified)
    return replace(arrival, publisher=publisher)


def reopen_release(
    indexes: Indexes, name: str, chosen: ReleaseSummary, dependencies: DependencyTerms
) -> Arrival | None:
    """Return a chosen wheel from what its root keeps of it, where it is installed as it should be; else None. No download."""
    if dependencies.reuse is None or chosen.archive.kind != WHEEL:
        return None
    found = indexes.find(name)
    release = indexes.release(name, chosen.version)
    _promise(found.document, chosen, release)
    verified = reopen_installed(name, release.tree_digest, dependencies)
    if verified is None:
        return None
    check_dependencies(verified, dependencies)
    _check_classes(release, verified)
    publisher, origin = _vouch(found, release)
    return Arrival(verified, publisher, origin)


def acquire_download(
    stream: BinaryIO,
    release: ReleaseDocument,
    promise: Promise,
    origin: Origin,
    terms: DependencyTerms,
    locked: Composition | None = None,
) -> Arrival:
    """Verify a release's file against what its index promised. Whose it is, the caller knows."""
    if release.archive.kind == WHEEL:
        return acquire_wheel(stream, release.archive.filename, origin, terms, promise=promise, locked=locked)
    return Arrival(_complete(verify_archive(stream, Given(), promise), terms, locked), "", origin)


def acquire_archive(
    stream: BinaryIO, given: Given, origin: Origin, terms: DependencyTerms, locked: Composition | None = None
) -> Arrival:
    """Verify an archive that came from elsewhere than an index. `stream` must stay open until it is installed."""
    return Arrival(_complete(verify_archive(stream, given), terms, locked), "", origin)


def acquire_imported(
    archive: Canonical, origin: Origin, terms: DependencyTerms, locked: Composition | None = None
) -> Arrival:
    """Verify an archive that may have been imported; the arrival says what was changed."""
    verified = _complete(verify_archive(archive.stream, archive.given), terms, locked)
    return Arrival(verified, "", origin, archive.changes)


def _complete(verified: VerifiedPack, terms: DependencyTerms, locked: Composition | None) -> VerifiedPack:
    """Return an archive's pack; one that holds an unpacked wheel with what it depends on, as if it were zipped."""
    return with_dependencies(verified, terms, locked) if verified.pack.kind == WHEEL_KIND.id else verified


def _vouch(found: Found, release: ReleaseDocument) -> tuple[str, Origin]:
    """Return who published a release, and where it comes from."""
    origin = Origin("index", found.client.archive_url(release), found.client.url)
    return str(parse_publisher_name(found.document.publisher)), origin


def _check_classes(release: ReleaseDocument, verified: VerifiedPack) -> None:
    """Raise `Untrusted` where a skill may do more than the index's document says: plans and the age of releases rely on it."""
    widened = find_widening(powers_of_summaries(release.skills), powers_of(verified.pack.skills))
    risen = [one.text for one in widened if one.kind == "class"]
    if risen:
        raise Untrusted(
            f"{release.name} {release.version} may do more than the index says",
            why=f"from the document to the archive, {'; '.join(risen)}",
            hint="tell the index's operator",
        )


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
