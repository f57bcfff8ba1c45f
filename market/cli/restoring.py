"""From the blocks of a lock file to arrivals that are exactly them."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from market.cli.building import build_folder
from market.cli.fetching import fetch_address, is_address
from market.cli.git_source import fetch_from_git
from market.cli.importing import open_archive
from market.cli.lock_place import open_block
from market.cli.network import open_index
from market.cli.targets import existing_path
from market.client.cache import ArchiveCache
from market.client.git_address import is_git
from market.disk.failures import disk_failures
from market.disk.foreign import open_canonical
from market.errors import Conflict, InvalidInput, NotFound
from market.installer.acquire import acquire_archive, acquire_imported
from market.installer.archives import open_kept
from market.installer.dependencies import make_dependency_terms
from market.installer.receipt import Origin
from market.installer.restore import check_restored, restore_installed, restore_kept, restore_release
from market.installer.wheels import acquire_wheel, check_stands_here
from market.pack.inspect import Given
from market.pack.wheel import WHEEL_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack
    from pathlib import Path

    from market.cli.lock_place import LockPlace
    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.dependencies import DependencyTerms
    from market.installer.lock_file import LockedPack
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.names import Digest


def choose_locked(place: LockPlace, names: Iterable[str]) -> tuple[LockedPack, ...]:
    """Return the blocks of the named packs, or all."""
    wanted = list(names)
    unknown = [name for name in wanted if name not in place.lock.by_name]
    if unknown:
        raise Conflict(
            f"{place.path} doesn't name {', '.join(unknown)}",
            why="with --locked only what the lock file names is installed",
            hint="add it with `market install NAME --lock`",
        )
    return tuple(place.lock.by_name[name] for name in wanted) if wanted else place.lock.packs


def restore_all(
    market: Market, output: Output, stack: ExitStack, root: Root, place: LockPlace, packs: Iterable[LockedPack]
) -> list[Arrival]:
    """Return the arrivals of some blocks. Archives that the root or the download cache keeps help where a source is away."""
    cache = ArchiveCache(market.home.archives)
    terms = make_dependency_terms(market.environ, reuse=root)

    def open_archive(digest: Digest) -> BinaryIO | None:
        return open_kept(root, digest) or cache.open(digest)

    def restore(pack: LockedPack) -> Arrival:
        if pack.origin.index:
            index = open_index(market, market.settings.index_at(pack.origin.index))
            return restore_release(index, open_archive, pack, output.remark, terms)
        kept = restore_kept(open_archive, pack) or restore_installed(pack, terms)
        return kept or _restore_from_elsewhere(market, stack, pack, terms)

    arrivals = [restore(open_block(pack, place)) for pack in packs]
    for arrival in arrivals:
        check_stands_here(arrival.verified, terms)
    return arrivals


def _restore_from_elsewhere(market: Market, stack: ExitStack, pack: LockedPack, terms: DependencyTerms) -> Arrival:
    target = pack.origin.location
    try:
        if is_git(target):
            given = Given(pack.name, pack.version.text)
            return check_restored(fetch_from_git(stack, target, given, terms, pack.composition), pack)
        if is_address(target):
            return check_restored(_fetch(market, stack, target, pack, terms), pack)
        return check_restored(_open(stack, existing_path(target), pack, terms), pack)
    except (NotFound, InvalidInput) as error:
        raise Conflict(
            f"{pack.name} {pack.version} is in the lock file, but can't be had from {pack.origin.kind} {target}",
            why=error.message,
            hint="install it from elsewhere and update the lock file: `market install ... --lock`",
        ) from None


def _fetch(market: Market, stack: ExitStack, target: str, pack: LockedPack, terms: DependencyTerms) -> Arrival:
    # No digest of the file is known, but the lock has that of the tree, which it is held against.
    fetched = fetch_address(market, stack, target, is_held_against_a_lock=True)
    given, origin = Given(pack.name, pack.version.text), Origin(pack.origin.kind, fetched.address)
    if fetched.file_name.endswith(WHEEL_SUFFIX):
        name = fetched.file_name
        return acquire_wheel(fetched.stream, name, origin, terms, given=given, locked=pack.composition)
    archive = stack.enter_context(open_canonical(fetched.stream, given))
    return acquire_imported(archive, origin, terms, pack.composition)


def _open(stack: ExitStack, path: Path, pack: LockedPack, terms: DependencyTerms) -> Arrival:
    given = Given(pack.name, pack.version.text)
    origin = Origin(pack.origin.kind, str(path.absolute()))
    if path.suffix == WHEEL_SUFFIX:
        with disk_failures("read", path):
            stream = stack.enter_context(path.open("rb"))
        return acquire_wheel(stream, path.name, origin, terms, given=given, locked=pack.composition)
    if path.is_dir():
        return acquire_archive(
            stack.enter_context(build_folder(path, given)).stream, given, origin, terms, pack.composition
        )
    return acquire_imported(stack.enter_context(open_archive(path, given)), origin, terms, pack.composition)
