"""Carrying out the steps of one transaction on disk, and undoing all of them when one fails."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from market.disk.atomic import fsync_directory, sync_file_system, write_new
from market.disk.failures import disk_failures
from market.disk.identity import Identity, identity_at, identity_of
from market.disk.rehash import DIRECTORY_MODE
from market.disk.unpack import unpack
from market.errors import Conflict, MarketError, Unavailable
from market.installer.archives import list_forgotten, recall_archives, stage_archive, unkeep
from market.installer.intent import Intent, Move, Stage, load_intents, root_identity, stage_of
from market.installer.plan import Action, Change, Step
from market.installer.receipt import encode_receipt, load_receipt_bytes
from market.installer.recover import drop_intent, finish
from market.installer.sweep import hide_backups, sweep_retired, sweep_staging
from market.installer.switch import backup_path, keep_possible, place_receipt, put_in_force, switch_trees, write_intent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from market.installer.receipt import Receipt
    from market.installer.root import Root


def commit(root: Root, steps: Sequence[Step]) -> tuple[Change, ...]:
    """Carry out steps, all or none; the caller holds the lock. What fails leaves the root as it was."""
    names = [step.change.name for step in steps]
    if len(set(names)) != len(names):
        raise Conflict(f"one pack is named twice: {', '.join(sorted(names))}", hint="name each pack once")
    transaction = secrets.token_hex(8)
    active = [_mark(step, transaction) for step in steps if step.change.action is not Action.UNCHANGED]
    if active:
        with disk_failures("install into" if any(step.receipt for step in active) else "uninstall from", root.path):
            _run(root, transaction, active)
        sweep_staging(root)
        sweep_retired(root)
        hide_backups(root)
    return tuple(_with_backup(root, transaction, step) for step in steps)


def _run(root: Root, transaction: str, steps: Sequence[Step]) -> None:
    stage = stage_of(root, transaction)
    with _new_stage(root, transaction) as descriptor:
        moves = tuple(_stage_step(root, stage, descriptor, step) for step in steps)
        forgotten = list_forgotten(root, [(step.old, step.receipt) for step in steps])
        intent = Intent(transaction, root_identity(root), moves, forgotten)
        before = {move.name: load_receipt_bytes(root.receipt(move.name)) for move in moves}
        write_intent(root, intent)
        sync_file_system(descriptor)
        try:
            put_in_force(root, intent)
            finish(root, intent)
        except BaseException as error:
            _undo(root, intent, before, error)
            raise


@contextmanager
def _new_stage(root: Root, transaction: str) -> Iterator[int]:
    folder = stage_of(root, transaction).folder
    os.mkdir(folder, 0o700)  # noqa: PTH102
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    except BaseException:
        # With its intent still in force, the stage is what the next writer recovers from; the sweep knows.
        sweep_staging(root)
        sweep_retired(root)
        raise


def _stage_step(root: Root, stage: Stage, descriptor: int, step: Step) -> Move:
    name, receipt = step.change.name, step.receipt
    live = identity_at(root.tree(name))
    old_digest = step.old.tree_digest if step.old else ""
    if receipt is None or step.source is None:
        return Move(name, None, live, None, old_digest, step.keep)
    staged = _stage_tree(descriptor, step, receipt)
    write_new(stage.receipt(name), encode_receipt(receipt))
    kept = _stage_archive(root, stage, step.archive, receipt)
    return Move(name, staged, live, receipt, old_digest, step.keep, kept)


def _stage_archive(root: Root, stage: Stage, archive: BinaryIO | None, receipt: Receipt) -> str:
    if archive is None:
        return ""
    shared = receipt.origin.kind == "index"
    return stage_archive(root, stage, receipt.name, archive, receipt.archive_digest, shared=shared)


def _stage_tree(stage: int, step: Step, receipt: Receipt) -> Identity:
    os.mkdir(receipt.name, DIRECTORY_MODE, dir_fd=stage)
    descriptor = os.open(receipt.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=stage)
    try:
        os.fchmod(descriptor, DIRECTORY_MODE)
        if step.source is not None:
            unpack(step.source, receipt.record, descriptor, stamp_ns=receipt.stamp_ns)
        return identity_of(descriptor)
    finally:
        os.close(descriptor)


def _undo(root: Root, intent: Intent, before: dict[str, bytes | None], cause: BaseException) -> None:
    """Bring back the receipts, then the trees, then drop the intent. Where that fails too, the intent stays for recovery."""
    stage = stage_of(root, intent.transaction)
    try:
        for name, content in before.items():
            place_receipt(root, stage, name, content)
        for move in intent.moves:
            unkeep(root, stage, move)
        recall_archives(root, stage, intent)
        fsync_directory(root.receipts)
        noted = keep_possible(root, _as_noted(root, intent), forward=False)
        drop_intent(root, switch_trees(root, noted, forward=False))
    except (OSError, MarketError) as error:
        raise Unavailable(
            f"changing {root.path} failed half way, and so did undoing it",
            why=f"{cause}; then {error}",
            hint="free space or repair the disk; the next command on this root completes or undoes it",
        ) from error


def _as_noted(root: Root, intent: Intent) -> Intent:
    """Return the intent as it stands on disk: a tree that had to be copied was noted there."""
    return next((one for one in load_intents(root) if one.transaction == intent.transaction), intent)


def _mark(step: Step, transaction: str) -> Step:
    return replace(step, receipt=replace(step.receipt, transaction=transaction)) if step.receipt else step


def _with_backup(root: Root, transaction: str, step: Step) -> Change:
    backup = backup_path(root, transaction, step.change.name)
    return replace(step.change, backup=str(backup)) if step.keep and backup.exists() else step.change
