"""Finishing or undoing what an interrupted transaction left behind. Only the holder of the root's lock calls this.

The rule: if one new tree of an intent stands in its place, all of them shall; else none. Which tree stands where is known by
(dev, ino), not by content, because a program may write into its own tree. Only in a copied root, where inodes mean nothing,
the contents decide.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.disk.atomic import fsync_directory
from market.disk.failures import disk_failures
from market.disk.identity import Identity, identity_at
from market.disk.walk import open_tree
from market.installer.archives import forget_archives, keep_staged
from market.installer.intent import Intent, Move, is_same_root, load_intents, stage_of
from market.installer.receipt import encode_receipt
from market.installer.sweep import hide_backups, sweep_retired, sweep_staging
from market.installer.switch import is_switched, keep_edited, keep_possible, place_receipt, switch_trees
from market.pack.record import make_record

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root


@dataclass(frozen=True, slots=True)
class Recovered:
    """One interrupted transaction that was settled: finished or undone. `left` names packs whose place somebody else has taken."""

    transaction: str
    names: tuple[str, ...]
    finished: bool
    left: tuple[str, ...] = ()


def recover(root: Root) -> tuple[Recovered, ...]:
    """Settle every open intent of a root and clean up; idempotent, and safe to interrupt. The caller holds the lock."""
    with disk_failures("recover the root", root.path):
        settled = tuple(_settle(root, intent) for intent in load_intents(root))
    sweep_staging(root)
    sweep_retired(root)
    hide_backups(root)
    return settled


def finish(root: Root, intent: Intent) -> None:
    """Do all that is left of an intent: trees, then receipts, then the intent itself goes. Raises OSError."""
    intent = switch_trees(root, intent, forward=True)
    stage = stage_of(root, intent.transaction)
    for move in intent.moves:
        # Before the receipt that names it. Syncing the receipts' folder commits this too on every journaling file system; where
        # it doesn't, a power loss costs a rollback, not a pack.
        keep_staged(root, stage, move)
        place_receipt(root, stage, move.name, None if move.receipt is None else encode_receipt(move.receipt))
    fsync_directory(root.receipts)
    keep_edited(root, intent)
    forget_archives(root, stage, intent)
    drop_intent(root, intent)


def drop_intent(root: Root, intent: Intent) -> None:
    """End a transaction. Not synced: an intent that comes back after power loss is settled again, to the same end."""
    with suppress(FileNotFoundError):
        os.unlink(root.intent(intent.transaction))  # noqa: PTH108


def _settle(root: Root, intent: Intent) -> Recovered:
    stage_of(root, intent.transaction).folder.mkdir(mode=0o700, exist_ok=True)
    if not is_same_root(root, intent):
        intent = _identify_by_content(root, intent)
    forward = any(is_switched(root, move) for move in intent.moves)
    settled = keep_possible(root, intent, forward=forward)
    if forward:
        finish(root, settled)
    else:
        # Receipts are touched only after all trees are switched, and restored before any goes back: they are the old ones.
        drop_intent(root, switch_trees(root, settled, forward=False))
    left = tuple(move.name for move in intent.moves if move not in settled.moves)
    return Recovered(intent.transaction, tuple(move.name for move in intent.moves), forward, left)


def _identify_by_content(root: Root, intent: Intent) -> Intent:
    """Give a copied root's intent the identities of the copies, by tree digest. What matches neither tree stays unknown."""
    stage = stage_of(root, intent.transaction)

    def find(move: Move, digest: str, recorded: Identity | None) -> Identity | None:
        places = (root.tree(move.name), stage.tree(move.name), stage.parked(move.name))
        return recorded and next(
            (identity_at(place) for place in places if _digest_of(place, move) == digest), recorded
        )

    moves = tuple(
        replace(
            move,
            staged=find(move, move.receipt.tree_digest if move.receipt else "", move.staged),
            live=find(move, move.old_digest, move.live),
        )
        for move in intent.moves
    )
    return replace(intent, moves=moves)


def _digest_of(place: Path, move: Move) -> str:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    with open_tree(descriptor, place, move.receipt.record.by_path if move.receipt else ()) as folder:
        return make_record(folder.source).tree_digest
