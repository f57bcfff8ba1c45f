"""The archives that a root keeps, `archives/HEX.zip`: of the releases that stand there and of a few before them.

They make rollback and repair independent of every network. Verifying what is taken out is `market.trust`'s.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

from market.disk.failures import disk_failures
from market.disk.keep import keep_copy, keep_link
from market.errors import Untrusted
from market.installer.receipt import Earlier, encode_receipt, load_receipt_bytes, load_receipts, receipt_names
from market.pack.record import hash_stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from market.installer.intent import Intent, Move, Stage
    from market.installer.receipt import Receipt
    from market.installer.root import Root

EARLIER_RELEASES_KEPT = 2
"""So many releases of a pack are kept besides the one that stands there."""


def is_kept(root: Root, digest: str) -> bool:
    """Answer whether the archive of a digest is kept."""
    return root.archive(digest).is_file()


def open_kept(root: Root, digest: str) -> BinaryIO | None:
    """Open a kept archive, or return None where there is none. Whether it is what its name says, isn't checked here."""
    path = root.archive(digest)
    with disk_failures("read", path):
        try:
            return path.open("rb")
        except FileNotFoundError:
            return None


def list_earlier(root: Root, old: Receipt | None, new_archive: str) -> tuple[Earlier, ...]:
    """Return what the next receipt of a pack names as earlier: the replaced release and those before it, as far as they are kept."""
    if old is None:
        return ()
    replaced = Earlier(old.version, old.publisher, old.origin, old.archive_digest, old.release_digest)
    rows = {row.archive_digest: row for row in reversed((replaced, *old.earlier))}
    wanted = [row for row in reversed(rows.values()) if row.archive_digest != new_archive]
    return tuple(row for row in wanted if is_kept(root, row.archive_digest))[:EARLIER_RELEASES_KEPT]


def list_forgotten(root: Root, steps: Sequence[tuple[Receipt | None, Receipt | None]]) -> tuple[str, ...]:
    """Return the digests of archives that nothing needs once each new receipt has taken its old one's place: `(old, new)` pairs."""
    gone = sorted(_named(old for old, _ in steps) - _named(new for _, new in steps))
    if not gone:
        return ()
    # One archive may stand under several names. Text is compared, because parsing a thousand records would be felt.
    own = {receipt.name for pair in steps for receipt in pair if receipt}
    others = [load_receipt_bytes(root.receipt(name)) or b"" for name in receipt_names(root) if name not in own]
    return tuple(digest for digest in gone if not any(digest.encode() in content for content in others))


def stage_archive(root: Root, stage: Stage, name: str, archive: BinaryIO, digest: str, *, shared: bool) -> str:
    """Put an archive into the stage, where it isn't kept yet, and return its digest; empty where there is nothing to do.

    `shared` archives belong to the download cache, where files never change, so a link will do. Raises OSError.
    """
    if is_kept(root, digest):
        return ""
    waiting = stage.archive(name)
    if not (shared and keep_link(archive, waiting)):
        keep_copy(archive, waiting)
    return digest


def keep_staged(root: Root, stage: Stage, move: Move) -> None:
    """Move an archive from the stage to its place; may be repeated. The caller syncs. Raises OSError."""
    if move.kept_archive:
        with suppress(FileNotFoundError):
            os.replace(stage.archive(move.name), root.archive(move.kept_archive))  # noqa: PTH105


def unkeep(root: Root, stage: Stage, move: Move) -> None:
    """Move an archive back to the stage, from which it goes with the transaction or forward again. Raises OSError."""
    if move.kept_archive:
        with suppress(FileNotFoundError):
            os.replace(root.archive(move.kept_archive), stage.archive(move.name))  # noqa: PTH105


def forget_archives(root: Root, stage: Stage, intent: Intent) -> None:
    """Move the archives that nothing needs any more to the stage, with which they go; may be repeated. Raises OSError."""
    for digest in intent.forgotten:
        with suppress(FileNotFoundError):
            os.replace(root.archive(digest), stage.forgotten(digest))  # noqa: PTH105


def recall_archives(root: Root, stage: Stage, intent: Intent) -> None:
    """Move forgotten archives back to their places: the receipts that name them are in force again. Raises OSError."""
    for digest in intent.forgotten:
        with suppress(FileNotFoundError):
            os.replace(stage.forgotten(digest), root.archive(digest))  # noqa: PTH105


def find_unnamed(root: Root) -> tuple[Path, ...]:
    """Return the kept archives that no receipt names, nor an open intent; none where a receipt can't be read: it may have named one."""
    kept = _kept(root)
    try:
        texts = [encode_receipt(receipt) for receipt in load_receipts(root)] if kept else []
    except Untrusted:
        return ()
    texts += [load_receipt_bytes(path) or b"" for path in root.intents.glob("*.json")]
    return tuple(path for path in kept if not any(path.stem.encode() in content for content in texts))


def find_spoilt(root: Root) -> tuple[Path, ...]:
    """Return the kept archives whose content isn't what their name says; every one is read."""
    return tuple(path for path in _kept(root) if _hash(path) != path.stem)


def _kept(root: Root) -> list[Path]:
    with disk_failures("read", root.archives):
        return sorted(root.archives.glob("[!.]*.zip")) if root.archives.is_dir() else []


def _hash(path: Path) -> str:
    with disk_failures("read", path), path.open("rb") as stream:
        return hash_stream(stream)[1]


def _named(receipts: Iterable[Receipt | None]) -> set[str]:
    return {
        digest
        for receipt in receipts
        if receipt is not None
        for digest in (receipt.archive_digest, *(row.archive_digest for row in receipt.earlier))
    }
