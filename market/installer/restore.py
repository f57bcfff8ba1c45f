"""From a block of a lock file to an arrival that is exactly it, or an error that says what is different now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from market.errors import Conflict, NotFound, Unavailable
from market.installer.acquire import acquire_download
from market.installer.composition import compose, dump_dependency
from market.installer.made_wheels import reopen_installed, works_here
from market.installer.receipt import Origin
from market.installer.transaction import Arrival
from market.names import parse_digest, parse_publisher_name
from market.pack.inspect import Given
from market.pack.kinds import WHEEL_KIND
from market.trust.verify import Promise, verify_archive, verify_made

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.client.index_client import IndexClient
    from market.client.wire import ReleaseDocument
    from market.installer.composition import Composition
    from market.installer.dependencies import DependencyTerms
    from market.installer.lock_file import LockedPack
    from market.names import Digest

# A yanked release is still given to whoever names it exactly, and a lock does.
GIVEN_STATES = frozenset({"live", "yanked"})


def restore_release(
    index: IndexClient,
    open_archive: Callable[[Digest], BinaryIO | None],
    locked: LockedPack,
    say: Callable[[str], None],
    dependencies: DependencyTerms,
) -> Arrival:
    """Return the locked release from the index that it came from, of a wheel with its `dependencies`.

    Where the index can't be reached, an archive of the digest that is kept here does as well (`open_archive`), and `say` is
    told. Raises `Conflict` where the index no longer has the release, or has something else under its version.
    """
    promise = _promise(locked)
    try:
        release = index.release(locked.name, locked.version.text)
    except NotFound as error:
        raise _gone(locked, index.url, error.message) from None
    except Unavailable as error:
        kept = restore_kept(open_archive, locked) or restore_installed(locked, dependencies)
        if kept is None:
            raise
        say(f"{locked.name} {locked.version} is taken from the archives kept here: {error.message}")
        return kept
    if WHEEL_KIND.id in (release.archive.kind, release.kind):
        return _restore_wheel(index, open_archive, release, locked, dependencies)
    _check_release(release, locked, index.url)
    verified = verify_archive(index.download_archive(release), Given(), promise)
    return Arrival(verified, locked.publisher, _origin(index, release, locked))


def restore_kept(open_archive: Callable[[Digest], BinaryIO | None], locked: LockedPack) -> Arrival | None:
    """Return the locked pack from an archive that is kept here; None where none is, or it was made for another Python or system.

    The arrival's origin is the block's own, so it must be absolute.
    """
    kept = open_archive(locked.archive_digest)
    if kept is None:
        return None
    verified = verify_made(kept, Given(), _promise(locked))
    if locked.composition is not None and (pinned := _pins(locked.composition)) != (there := _pins(compose(verified))):
        # The digests are of one tree, the pins of another: somebody changed either by hand.
        raise _different(locked, "the archives kept here", "list of dependencies", pinned, there)
    return Arrival(verified, locked.publisher, locked.origin) if works_here(verified) else None


def restore_installed(locked: LockedPack, dependencies: DependencyTerms) -> Arrival | None:
    """Return a locked wheel from what was made of it on this machine, where it is installed; else None."""
    if locked.composition is None:
        return None
    verified = reopen_installed(locked.name, locked.composition.release, dependencies, locked.composition)
    return Arrival(verified, locked.publisher, locked.origin) if verified else None


def check_restored(arrival: Arrival, locked: LockedPack) -> Arrival:
    """Return an arrival that is the locked pack; raises `Conflict` with both digests where it isn't."""
    verified, where = arrival.verified, arrival.origin.index or arrival.origin.location
    composition = compose(verified)
    if verified.name != locked.name or not locked.is_same(verified.version.text, verified.tree_digest, composition):
        if locked.composition and composition:
            wanted, found = locked.composition.release, composition.release
            raise _different(locked, where, "tree", wanted, found)
        what = "tree, with what it depends on," if composition else "tree"
        raise _different(locked, where, what, locked.tree_digest, verified.tree_digest)
    return Arrival(arrival.verified, locked.publisher, arrival.origin, arrival.changes)


def _restore_wheel(
    index: IndexClient,
    open_archive: Callable[[Digest], BinaryIO | None],
    release: ReleaseDocument,
    locked: LockedPack,
    dependencies: DependencyTerms,
) -> Arrival:
    """Return a locked wheel: the archive that was made of it, where that is kept here and works here, else one made anew.

    Its dependencies are then the pinned ones, whatever newer releases there are. A lock file of an earlier Market pins none, so
    the newest are taken, and the tree must be the same.
    """
    _check_given(release, locked, index.url)
    if locked.composition is not None and release.tree_digest != locked.composition.release:
        raise _different(locked, index.url, "tree", locked.composition.release, release.tree_digest)
    origin = _origin(index, release, locked)
    kept = restore_kept(open_archive, locked) or restore_installed(locked, dependencies)
    if kept is not None:
        return replace(kept, origin=origin)
    promise = Promise(
        locked.name, locked.version, parse_digest(release.archive.digest), parse_digest(release.tree_digest)
    )
    stream = index.download_archive(release)
    arrival = acquire_download(stream, release, promise, origin, dependencies, locked.composition)
    return check_restored(replace(arrival, publisher=locked.publisher), locked)


def _pins(composition: Composition | None) -> str:
    return "; ".join(map(dump_dependency, composition.dependencies)) if composition else ""


def _origin(index: IndexClient, release: ReleaseDocument, locked: LockedPack) -> Origin:
    return Origin(locked.origin.kind, index.archive_url(release), index.url)


def _promise(locked: LockedPack) -> Promise:
    return Promise(locked.name, locked.version, locked.archive_digest, locked.tree_digest)


def _check_release(release: ReleaseDocument, locked: LockedPack, url: str) -> None:
    _check_given(release, locked, url)
    for what, wanted, found in (
        ("tree", locked.tree_digest, release.tree_digest),
        ("archive", locked.archive_digest, release.archive.digest),
    ):
        if wanted != found:
            raise _different(locked, url, what, wanted, found)


def _check_given(release: ReleaseDocument, locked: LockedPack, url: str) -> None:
    """Demand that the index still gives the release, and that it is the same publisher's."""
    if release.state not in GIVEN_STATES:
        raise _gone(locked, url, f"it is {release.state} there")
    publisher = str(parse_publisher_name(release.publisher))
    if publisher != locked.publisher:
        raise _different(locked, url, "publisher", locked.publisher, publisher)


def _gone(locked: LockedPack, url: str, why: str) -> Conflict:
    return Conflict(
        f"{locked.name} {locked.version} is in the lock file, but {url} doesn't give it",
        why=why,
        hint="install another release and update the lock file: `market install NAME --lock`",
        details={"name": locked.name, "version": locked.version.text, "index": url},
    )


def _different(locked: LockedPack, where: str, what: str, wanted: str, found: str) -> Conflict:
    return Conflict(
        f"{locked.name} {locked.version} from {where} is not the one in the lock file",
        why=f"its {what} is {found}, the lock file says {wanted}",
        hint="if you expected the change, install it again with --lock; else ask the publisher",
        details={"name": locked.name, "version": locked.version.text, "locked": wanted, "found": found, "what": what},
    )
