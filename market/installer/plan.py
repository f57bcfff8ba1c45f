"""What one install or uninstall will do to a root, and whether it may: decided before anything is written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, BinaryIO

from market.disk.failures import disk_failures
from market.errors import Conflict, NotFound
from market.installer.archives import list_earlier
from market.installer.composition import compose
from market.installer.pins import load_pins
from market.installer.receipt import Origin, Receipt
from market.installer.tree_state import TreeState, UnitReading, read_unit
from market.names import parse_pack_name

if TYPE_CHECKING:
    from datetime import datetime

    from market.errors import Problem
    from market.installer.composition import Composition
    from market.installer.root import Root
    from market.model import Pack
    from market.pack.source import Source
    from market.trust.verify import VerifiedPack

MAX_SHOWN_EDITS = 10


class Action(StrEnum):
    """What happened to a pack."""

    INSTALLED = "installed"
    UPGRADED = "upgraded"
    DOWNGRADED = "downgraded"
    UNCHANGED = "unchanged"
    REINSTALLED = "reinstalled"
    ROLLED_BACK = "rolled-back"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one pack. Versions are empty where there is none; `backup` is where an edited tree was kept.

    `findings` is what the scans of plugins saw, and stopped nothing; `composition` that of a wheel pack that came.
    """

    name: str
    action: Action
    old_version: str = ""
    new_version: str = ""
    backup: str = ""
    findings: tuple[Problem, ...] = ()
    composition: Composition | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the caller has confirmed: that edits are replaced (and kept as a backup), that another publisher may take over.

    `other_tree`: that a version may now have another tree than it had.
    """

    overwrite_edits: bool = False
    accept_publisher: bool = False
    other_tree: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One pack's part of a transaction. `receipt`, `source`, `archive` and `pack` are None in a removal; `keep` saves the edited old tree.

    `archive` is kept in the root; where it is None, nothing is.
    """

    change: Change
    receipt: Receipt | None
    source: Source | None
    old: Receipt | None
    archive: BinaryIO | None = None
    keep: bool = False
    pack: Pack | None = None


def plan_install(
    root: Root, verified: VerifiedPack, publisher: str, origin: Origin, now: datetime, allowed: Allowed
) -> Step:
    """Compare a verified pack with what stands under its name; raises `Conflict` where it must not be replaced."""
    new = Receipt(
        verified.name,
        verified.version,
        publisher,
        origin,
        verified.archive_digest,
        verified.tree_digest,
        verified.record,
        now,
        composition=compose(verified),
    )
    return plan_tree(root, new, verified.source, verified.archive, verified.pack, allowed)


def plan_tree(root: Root, new: Receipt, source: Source, archive: BinaryIO | None, pack: Pack, allowed: Allowed) -> Step:
    """Compare one directory that shall be installed with what stands in its place; raises as `plan_install` does."""
    with _read_place(root, new.name) as reading:
        _check_replaceable(root, reading)
        old = reading.receipt
        new = replace(new, earlier=list_earlier(root, old, new.archive_digest))
        _check_pin(root, new)
        if old is not None:
            _check_owner(root, old, new)
        if old is not None and not allowed.accept_publisher:
            _check_publisher(old, new)
        if old is not None and not allowed.other_tree:
            _check_same_tree(old, new)
        action = _choose_action(reading, new)
        edited = reading.state is TreeState.BROKEN or bool(reading.edited_files and reading.folder)
        edited = edited or (old is not None and old.accepted is not None)
        if edited and action is not Action.UNCHANGED and not allowed.overwrite_edits:
            raise _edited(root, reading)
    old_version = old.version.text if old else ""
    change = Change(new.name, action, old_version, new.version.text, composition=new.composition)
    return Step(change, new, source, old, archive, keep=edited, pack=pack)


def plan_uninstall(root: Root, name: str) -> Step:
    """Look at an installed pack that shall go; raises `NotFound` where there is none."""
    canonical = parse_pack_name(name)
    with _read_place(root, canonical) as reading:
        if reading.receipt is None and reading.state is not TreeState.BROKEN:
            why = "a folder of that name is there, but Market didn't put it there" if reading.folder else ""
            raise NotFound(f"{canonical!r} is not installed in {root.path}", why=why, hint="see what is: market list")
        old, edited = reading.receipt, reading.folder is not None and reading.state is not TreeState.INTACT
    change = Change(canonical, Action.REMOVED, old.version.text if old else "")
    return Step(change, None, None, old, keep=edited)


def _read_place(root: Root, name: str) -> UnitReading:
    with disk_failures("look at", root.tree(name)):
        if os.path.lexists(root.tree(name)) and (root.tree(name).is_symlink() or not root.tree(name).is_dir()):
            raise _unmanaged(root, name)
    try:
        return read_unit(root, name)
    except NotFound:
        return UnitReading(name, TreeState.MISSING)


def _check_replaceable(root: Root, reading: UnitReading) -> None:
    if reading.state is TreeState.UNMANAGED:
        raise _unmanaged(root, reading.name)


def _check_owner(root: Root, old: Receipt, new: Receipt) -> None:
    """In a root of layout `skills` two packs may have a skill of one name; the first keeps the folder."""
    if old.pack_name != new.pack_name:
        raise Conflict(
            f"{root.tree(new.name)} is taken by the pack {old.pack_name}",
            why=f"{new.pack_name} has a skill of that name too, and here each skill has a folder of its name",
            hint=f"`market uninstall {old.pack_name}` makes room; or install one of them into another root",
            details={"path": str(root.tree(new.name)), "pack": new.pack_name, "taken_by": old.pack_name},
        )


def _check_pin(root: Root, new: Receipt) -> None:
    pin = load_pins(root).get(new.pack_name)
    if pin is not None and pin.version != new.version:
        raise Conflict(
            f"{new.pack_name} is pinned to {pin.version} in {root.path}, this is {new.version}",
            why=pin.reason,
            hint=f"`market pin {new.pack_name} --unpin` lets it go",
            details={"name": new.name, "pinned": pin.version.text, "version": new.version.text, "reason": pin.reason},
        )


def _check_same_tree(old: Receipt, new: Receipt) -> None:
    # A folder is work in progress: its author installs it again and again before raising the version.
    is_draft = old.origin.kind == new.origin.kind == "folder"
    is_same = old.release_digest == new.release_digest or old.published_digest == new.published_digest
    if old.version == new.version and not is_same and not is_draft:
        raise Conflict(
            f"{new.name} {new.version} is installed with another tree than this one",
            why=f"installed is {old.release_digest}, this is {new.release_digest}: one of them isn't what was released",
            hint="install a release with a version of its own; or repeat with --force, if you know why they differ",
            details={"name": new.name, "installed": old.release_digest, "offered": new.release_digest},
        )


def _check_publisher(old: Receipt, new: Receipt) -> None:
    if old.publisher and new.publisher and old.publisher != new.publisher:
        raise Conflict(
            f"{new.name} was published by {old.publisher!r}, this one by {new.publisher!r}",
            why="a name that changes hands is how a trusted pack becomes somebody else's",
            hint="if you expected the change, repeat with --accept-publisher; else ask the publisher",
            details={"name": new.name, "old_publisher": old.publisher, "new_publisher": new.publisher},
        )


def _choose_action(reading: UnitReading, new: Receipt) -> Action:
    old = reading.receipt
    if old is None:
        return Action.REINSTALLED if reading.state is TreeState.BROKEN else Action.INSTALLED
    if old.version != new.version:
        return Action.UPGRADED if old.version < new.version else Action.DOWNGRADED
    is_same = reading.state is TreeState.INTACT and old.tree_digest == new.tree_digest
    return Action.UNCHANGED if is_same else Action.REINSTALLED


def _unmanaged(root: Root, name: str) -> Conflict:
    return Conflict(
        f"{root.tree(name)} is there, but Market didn't install it",
        why="a folder without a receipt is somebody's own work and is never overwritten",
        hint="move it away or delete it, then try again",
        details={"path": str(root.tree(name))},
    )


def _edited(root: Root, reading: UnitReading) -> Conflict:
    edits = reading.edited_files
    more = f" and {len(edits) - MAX_SHOWN_EDITS} more" if len(edits) > MAX_SHOWN_EDITS else ""
    return Conflict(
        f"{root.tree(reading.name)} was edited after its install",
        why=reading.trouble
        or (
            f"changed, added or missing: {', '.join(edits[:MAX_SHOWN_EDITS])}{more}"
            if edits
            else "its edits were accepted"
        ),
        hint="save the edits elsewhere; or repeat with --force, which keeps the edited tree as a backup",
        details={"changed": list(reading.changed), "added": list(reading.added), "missing": list(reading.missing)},
    )
