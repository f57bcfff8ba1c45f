"""The project's `market.lock`: found, read, and kept true of the root that it describes. Its text is `market.installer.lock_file`."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput, NotFound
from market.installer.composition import compose
from market.installer.layout import Layout, load_layout
from market.installer.listing import list_installed
from market.installer.lock_file import LOCK_NAME, MAX_LOCK_BYTES, Lock, LockedPack, dump_lock, lock_receipt, parse_lock
from market.installer.receipt import load_pack_receipts
from market.installer.root import default_roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.root import Root
    from market.trust.verify import VerifiedPack

PATH_KINDS = frozenset({"folder", "archive"})


@dataclass(frozen=True, slots=True)
class LockPlace:
    """A lock file's path, and what it says; an empty lock where there is no file yet."""

    path: Path
    lock: Lock
    exists: bool

    def described_root(self, market: Market) -> Path:
        """Return the root that the file describes: the one it names, below its folder, else the default root."""
        if self.lock.root:
            return Path(os.path.abspath(self.path.parent / self.lock.root))  # noqa: PTH100 - as roots are made absolute
        return default_roots(market.environ, market.home).paths[0]


def lock_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--lock [FILE]`."""
    return click.option(
        "--lock",
        is_flag=False,
        flag_value=LOCK_NAME,
        default=None,
        metavar="[FILE]",
        help="Write what is installed into a lock file, made if missing. [default: market.lock]",
    )(function)


def open_lock(path: Path) -> LockPlace:
    """Read a lock file; one that is missing is empty."""
    with disk_failures("read", path):
        if not path.exists():
            return LockPlace(path, Lock(), exists=False)
        with path.open("rb") as stream:
            content = stream.read(MAX_LOCK_BYTES + 1)
    if len(content) > MAX_LOCK_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_LOCK_BYTES} bytes")
    try:
        return LockPlace(path, parse_lock(content.decode(), str(path)), exists=True)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8", why=str(error), hint="restore it") from None


def existing_lock(path: Path) -> LockPlace:
    """Read a lock file that must be there."""
    place = open_lock(path)
    if not place.exists:
        raise NotFound(f"there is no lock file {path}", hint="make one of what is installed: `market lock`")
    return place


def follow_lock(market: Market, output: Output, root: Root, names: Iterable[str], named: str | None) -> None:
    """Bring the lock file up to date after a change of some packs: the one named, else one here that describes this root.

    Called with the root's lock held by nobody, as a lock file is never more than a copy of receipts.
    """
    place = open_lock(Path(named or LOCK_NAME))
    if named is None and not (place.exists and _is_described(market, place, root)):
        return
    changed = set(names)
    receipts = load_pack_receipts(root)
    packs = [_relative(lock_receipt(receipts[name]), place.path) for name in changed if name in receipts]
    lock = place.lock.with_packs(packs, changed - set(receipts))
    save_lock(output, place, lock if place.exists else _describe(market, lock, place, root))


def lock_root_of(market: Market, output: Output, place: LockPlace, root: Root) -> Lock:
    """Return the lock of everything that is installed in a root."""
    for one in list_installed(root):
        if one.state != "intact":
            output.remark(f"{one.name} is {one.state}; the lock file names what was installed")
        elif one.receipt and one.receipt.accepted:
            output.remark(f"{one.name} was edited, which was accepted; the lock file names what was installed")
    packs = [_relative(lock_receipt(one), place.path) for one in load_pack_receipts(root).values()]
    gone = set(place.lock.by_name) - {str(one.name) for one in packs}
    return _describe(market, place.lock.with_packs(packs, gone), place, root)


def save_lock(output: Output, place: LockPlace, lock: Lock) -> bool:
    """Write a lock file where its text changes, and say so."""
    if place.exists and lock == place.lock:
        return False
    with disk_failures("write", place.path):
        write_atomic(place.path.absolute(), dump_lock(lock).encode("utf-8", "replace"))
    output.remark(f"wrote {place.path}")
    return True


def check_frozen(place: LockPlace, wanted: Iterable[VerifiedPack]) -> None:
    """Raise `Conflict` where installing packs would change the lock file."""
    differing = sorted(str(one.name) for one in wanted if not _is_locked(place.lock, one))
    if differing:
        raise Conflict(
            f"{place.path} is frozen, and doesn't hold {', '.join(differing)} as it would be installed",
            hint="leave --frozen out to change the lock file, or install what it names with --locked",
            details={"names": differing},
        )


def _is_locked(lock: Lock, verified: VerifiedPack) -> bool:
    locked = lock.by_name.get(verified.name)
    return locked is not None and locked.is_same(verified.version.text, verified.tree_digest, compose(verified))


def open_block(pack: LockedPack, place: LockPlace) -> LockedPack:
    """Return a block of a lock file as it is meant on this machine: a folder or archive, written relative to the file, is absolute."""
    origin = pack.origin
    if origin.kind not in PATH_KINDS:
        return pack
    location = os.path.abspath(place.path.parent / origin.location)  # noqa: PTH100 - as roots are made absolute
    return replace(pack, origin=replace(origin, location=location))


def _is_described(market: Market, place: LockPlace, root: Root) -> bool:
    return os.path.realpath(place.described_root(market)) == os.path.realpath(root.path)


def _describe(market: Market, lock: Lock, place: LockPlace, root: Root) -> Lock:
    """Name the root in a lock where it lies in the project; another one is given by --root, or is the default."""
    if root.path == default_roots(market.environ, market.home).paths[0]:
        return replace(lock, root="")
    inside = os.path.relpath(root.path, place.path.absolute().parent)
    layout = "" if load_layout(root) is Layout.PACKS else str(load_layout(root))
    return replace(lock, root="" if inside.startswith("..") else Path(inside).as_posix(), layout=layout)


def _relative(pack: LockedPack, path: Path) -> LockedPack:
    """Write a folder or archive inside the project relative to the lock file, so that a clone finds its own."""
    origin = pack.origin
    if origin.kind not in PATH_KINDS:
        return pack
    inside = os.path.relpath(origin.location, path.absolute().parent)
    return pack if inside.startswith("..") else replace(pack, origin=replace(origin, location=Path(inside).as_posix()))
