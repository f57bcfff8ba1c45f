"""How a pack's tree stands against its receipt: intact, edited, missing or unmanaged. Reads; never changes anything.

A reader needs no lock: where a transaction is under way or was interrupted, its intent says which receipt belongs to the
directory that stands there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.identity import Identity, identity_at, identity_of
from market.disk.lease import lease_directory
from market.disk.walk import open_tree
from market.errors import NotFound, Refused, Unavailable, Untrusted
from market.installer.intent import load_intents
from market.installer.receipt import load_receipt
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from market.disk.walk import Folder, WalkedFile
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.pack.record import FileRecord

# Each further attempt means that the tree was switched between two looks.
MAX_READ_ATTEMPTS = 50


class TreeState(StrEnum):
    """How a tree stands. `broken`: there is a receipt, but it can't be read."""

    INTACT = "intact"
    EDITED = "edited"
    MISSING = "missing"
    UNMANAGED = "unmanaged"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class UnitReading:
    """One directory of a root at one moment. `folder` holds it open and leased until it is closed; None where it is missing.

    `changed`, `added` and `missing` are paths in the tree; an added empty folder ends with a slash.
    """

    name: str
    state: TreeState
    receipt: Receipt | None = None
    folder: Folder | None = None
    identity: Identity | None = None
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    trouble: str = ""

    @property
    def edited_files(self) -> tuple[str, ...]:
        """All that differs from the receipt, sorted."""
        return tuple(sorted((*self.changed, *self.added, *self.missing)))

    def __enter__(self) -> UnitReading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the lease; done by itself when the last reference goes."""
        if self.folder is not None:
            self.folder.source.close()


def read_unit(root: Root, name: str, *, thorough: bool = False) -> UnitReading:
    """Read what stands under a name in a root and compare it with its receipt.

    Files of the recorded size that still have the time of their unpacking count as unchanged; with `thorough` every file is
    hashed. Raises `NotFound` where there is neither a directory nor a receipt.
    """
    standing = _find_standing(root, name)
    if standing.descriptor is None:
        return _missing(root, name, standing)
    recorded = standing.receipt.record.by_path if standing.receipt else ()
    folder = open_tree(standing.descriptor, root.tree(name), recorded)
    return _compare(name, folder, standing, thorough=thorough)


@dataclass(frozen=True, slots=True)
class _Standing:
    descriptor: int | None
    identity: Identity | None
    receipt: Receipt | None
    trouble: str


def _find_standing(root: Root, name: str) -> _Standing:
    """Open a directory and find its receipt, of one moment: nothing was switched between the first look and the last."""
    for _ in range(MAX_READ_ATTEMPTS):
        descriptor = _open_unit(root, name)
        try:
            identity = None if descriptor is None else identity_of(descriptor)
            receipt, trouble = _find_receipt(root, name, identity)
            if _stands(root, name, identity):
                found, descriptor = _Standing(descriptor, identity, receipt, trouble), None
                return found
        finally:
            if descriptor is not None:
                os.close(descriptor)
    raise Unavailable(f"{root.tree(name)} is replaced faster than it can be read", hint="try again")


def _open_unit(root: Root, name: str) -> int | None:
    path = root.tree(name)
    try:
        return lease_directory(path)
    except NotFound:
        if not path.is_symlink():
            return None
    # Somebody's own link to a work folder: never made by an install, so never replaced under a reader.
    with suppress(NotFound), disk_failures("open", path):
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    return None


def _stands(root: Root, name: str, identity: Identity | None) -> bool:
    path = root.tree(name)
    return identity_at(path) == identity or path.is_symlink()


def _find_receipt(root: Root, name: str, identity: Identity | None) -> tuple[Receipt | None, str]:
    if not root.state.is_dir():
        return None, ""
    with suppress(Untrusted):
        for intent in load_intents(root):
            for move in intent.moves:
                if move.name == name and move.staged == identity:
                    return move.receipt, ""
    try:
        return load_receipt(root, name), ""
    except Untrusted as error:
        return None, f"{error.message}: {error.why}"


def _missing(root: Root, name: str, standing: _Standing) -> UnitReading:
    receipt, trouble = standing.receipt, standing.trouble
    if receipt is None and not trouble:
        raise NotFound(f"{name!r} is not installed in {root.path}", hint="see what is: market list")
    missing = tuple(file.path for file in receipt.record.files) if receipt else ()
    return UnitReading(
        name, TreeState.MISSING if receipt else TreeState.BROKEN, receipt, missing=missing, trouble=trouble
    )


def _compare(name: str, folder: Folder, standing: _Standing, *, thorough: bool) -> UnitReading:
    receipt, identity, trouble = standing.receipt, standing.identity, standing.trouble
    if receipt is None:
        state = TreeState.BROKEN if trouble else TreeState.UNMANAGED
        return UnitReading(name, state, None, folder, identity, trouble=trouble)
    walked, stamp = folder.source.walked, None if thorough else receipt.stamp_ns
    recorded = receipt.record.by_path
    missing = tuple(path for path in recorded if path not in walked)
    changed = tuple(
        path for path, file in recorded.items() if path in walked and _is_changed(folder, walked[path], file, stamp)
    )
    added = tuple(sorted((*(path for path in walked if path not in recorded), *_added_folders(folder, recorded))))
    state = TreeState.EDITED if changed or added or missing else TreeState.INTACT
    return UnitReading(name, state, receipt, folder, identity, changed, added, missing)


def _is_changed(folder: Folder, walked: WalkedFile, file: FileRecord, stamp_ns: int | None) -> bool:
    # A file that became a link to a twin of itself reads the same today, and something else tomorrow.
    if walked.place != file.path or (walked.file.size, walked.file.executable) != (file.size, file.executable):
        return True
    if walked.modified_ns == stamp_ns:
        return False
    try:
        with folder.source.open(file.path) as stream:
            return hash_stream(stream) != (file.size, file.sha256)
    except Refused:  # unreadable now: what it holds isn't known
        return True


def _added_folders(folder: Folder, recorded: dict[str, FileRecord]) -> list[str]:
    if not folder.directories:
        return []
    needed = {
        path[:end] for path in (*recorded, *folder.source.walked) for end, letter in enumerate(path) if letter == "/"
    }
    return [f"{path}/" for path in folder.directories if path not in needed]
