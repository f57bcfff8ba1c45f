"""Bringing the trees and receipts of one intent to what they shall be: all new, or all as before.

The same functions serve the transaction, its undoing and recovery, and each may be repeated: they look where every tree is, by
(dev, ino), and do what is missing. They raise OSError; a file system without renameat2 gets two renames, with a short gap.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from market.disk.atomic import fsync_directory, sync_file_system, write_new
from market.disk.exchange import ExchangeUnsupported, exchange, rename_new
from market.disk.identity import Identity, identity_at
from market.disk.lease import is_leased
from market.disk.remove import remove_tree
from market.errors import Conflict, Unavailable
from market.installer.intent import Intent, Move, Stage, encode_intent, stage_of

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root


def is_switched(root: Root, move: Move) -> bool:
    """Answer whether a move's new state (a tree, or none) stands in the root."""
    return identity_at(root.tree(move.name)) == move.staged


def keep_possible(root: Root, intent: Intent, *, forward: bool) -> Intent:
    """Return the intent with the moves whose place is still their own, and whose tree to put there still exists."""
    possible = tuple(move for move in intent.moves if _is_possible(root, intent, move, forward=forward))
    return replace(intent, moves=possible)


def switch_trees(root: Root, intent: Intent, *, forward: bool) -> Intent:
    """Put every move's new tree in place, or with `forward` False the old one; then make it durable.

    Returns the intent as it is now: it changes, on disk too, where a tree had to be copied. Raises `Conflict` where a directory
    that the intent doesn't know has taken a name.
    """
    for name in [move.name for move in (intent.moves if forward else reversed(intent.moves))]:
        try:
            _place(root, intent, name, forward=forward)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            intent = _copy_aside(root, intent, name)
            _place(root, intent, name, forward=forward)
    fsync_directory(root.path)
    fsync_directory(stage_of(root, intent.transaction).folder)
    return intent


def place_receipt(root: Root, stage: Stage, name: str, content: bytes | None) -> None:
    """Make a pack's receipt hold these bytes; None deletes it. A receipt that waits in the stage is taken from there."""
    receipt, waiting = root.receipt(name), stage.receipt(name)
    if content is None:
        with suppress(FileNotFoundError):
            os.unlink(receipt)  # noqa: PTH108
        return
    if not _holds(waiting, content):
        if _holds(receipt, content):
            return
        with suppress(FileNotFoundError):
            os.unlink(waiting)  # noqa: PTH108
        write_new(waiting, content, durable=True)
    os.replace(waiting, receipt)  # noqa: PTH105


def retire_stage(root: Root, transaction: str) -> None:
    """Move what a stage still holds to the retired trees, where leases keep it, and delete the stage."""
    stage = stage_of(root, transaction)
    for name in os.listdir(stage.folder):
        path = stage.folder / name
        if stat.S_ISDIR(os.lstat(path).st_mode):
            os.rename(path, root.retired / f"{transaction}-{name}")  # noqa: PTH104
        else:
            os.unlink(path)  # noqa: PTH108
    os.rmdir(stage.folder)  # noqa: PTH106


def keep_edited(root: Root, intent: Intent) -> None:
    """Move the replaced trees that somebody had edited to the backups."""
    for move in intent.moves:
        backup = backup_path(root, intent.transaction, move.name)
        place = locate_tree(root, intent, move.name, move.live) if move.keep else None
        if place not in (None, backup):
            root.backups.mkdir(mode=0o700, exist_ok=True)
            rename_new(place, backup)
            fsync_directory(root.backups)


def backup_path(root: Root, transaction: str, name: str) -> Path:
    """Where a transaction keeps a replaced tree that somebody had edited."""
    return root.backups / f"{name}-{transaction}"


def locate_tree(root: Root, intent: Intent, name: str, wanted: Identity | None) -> Path | None:
    """Return where a tree that isn't in its place is: in the stage, beside it, or in the backups."""
    if wanted is None:
        return None
    stage = stage_of(root, intent.transaction)
    places = (stage.tree(name), stage.parked(name), backup_path(root, intent.transaction, name))
    return next((place for place in places if identity_at(place) == wanted), None)


def _is_possible(root: Root, intent: Intent, move: Move, *, forward: bool) -> bool:
    standing, wanted = identity_at(root.tree(move.name)), move.staged if forward else move.live
    if standing == wanted:
        return True
    if standing not in (None, move.staged, move.live, move.doomed):
        return False
    return wanted is None or locate_tree(root, intent, move.name, wanted) is not None


def _place(root: Root, intent: Intent, name: str, *, forward: bool) -> None:
    stage, live = stage_of(root, intent.transaction), root.tree(name)
    move = next(move for move in intent.moves if move.name == name)
    wanted = move.staged if forward else move.live
    standing = identity_at(live)
    if standing is not None and standing == move.doomed:
        remove_tree(live)
        standing = None
    if standing == wanted:
        return
    if standing not in (None, move.staged, move.live):
        raise _foreign(live)
    source = locate_tree(root, intent, name, wanted)
    if wanted is not None and source is None:
        raise _vanished(live, stage)
    if standing is not None:
        _make_movable(live)
    if standing is None and source is not None:
        rename_new(source, live)
    elif source is None:
        rename_new(live, _free_place(stage, name))
    else:
        _swap(source, live, stage, name)


def _make_movable(tree: Path) -> None:
    # A directory that changes its parent is written to ('..'), and some people lock their trees with chmod -w.
    mode = os.lstat(tree).st_mode
    if stat.S_ISDIR(mode) and not mode & stat.S_IWUSR:
        os.chmod(tree, stat.S_IMODE(mode) | stat.S_IWUSR)  # noqa: PTH101


def _swap(source: Path, live: Path, stage: Stage, name: str) -> None:
    try:
        exchange(source, live)
    except ExchangeUnsupported:
        # The gap that DESIGN names: between these two nothing stands there. Readers retry or read through the intent.
        rename_new(live, _free_place(stage, name))
        rename_new(source, live)


def _free_place(stage: Stage, name: str) -> Path:
    return next(place for place in (stage.tree(name), stage.parked(name)) if identity_at(place) is None)


def _copy_aside(root: Root, intent: Intent, name: str) -> Intent:
    """Copy a live tree that can't be renamed (the lower layer of an overlay), and note in the intent that the original goes.

    From then on the copy is the old tree, so the way back stays open while the original is deleted in its place.
    """
    stage, live = stage_of(root, intent.transaction), root.tree(name)
    if is_leased(live):
        raise Unavailable(
            f"{live} is in use and can't be renamed on this file system",
            why="a call is running in it",
            hint="try again when it has ended",
        )
    parked = stage.parked(name)
    if identity_at(parked) is not None:
        remove_tree(parked)
    shutil.copytree(live, parked, symlinks=True, ignore=_special_files)
    moves = tuple(
        replace(move, live=identity_at(parked), doomed=identity_at(live)) if move.name == name else move
        for move in intent.moves
    )
    noted = replace(intent, moves=moves)
    write_intent(root, noted)
    _sync_folder(stage.folder)
    put_in_force(root, noted)
    return noted


def write_intent(root: Root, intent: Intent) -> None:
    """Write an intent into its stage, where it doesn't count yet. The caller syncs."""
    waiting = stage_of(root, intent.transaction).intent
    with suppress(FileNotFoundError):
        os.unlink(waiting)  # noqa: PTH108 - half written before a crash
    write_new(waiting, encode_intent(intent))


def put_in_force(root: Root, intent: Intent) -> None:
    """Make a written and synced intent count: renamed into the intents, durably. Replaces an earlier one of its transaction."""
    os.replace(stage_of(root, intent.transaction).intent, root.intent(intent.transaction))  # noqa: PTH105
    fsync_directory(root.intents)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_file_system(descriptor)
    finally:
        os.close(descriptor)


def _special_files(folder: str, names: list[str]) -> list[str]:
    modes = {name: os.lstat(f"{folder}/{name}").st_mode for name in names}
    return [
        name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    ]


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except FileNotFoundError:
        return False


def _foreign(live: Path) -> Conflict:
    return Conflict(
        f"something else stands at {live} now",
        why="it was put there during an interrupted install",
        hint="move it away, then try again",
    )


def _vanished(live: Path, stage: Stage) -> Conflict:
    return Conflict(
        f"the tree for {live} is no longer in {stage.folder}", why="somebody deleted it", hint="install the pack again"
    )
