"""Intents: what a transaction is about to do, on disk before it does it, so that whoever comes next can finish or undo it.

Deciding which of the two is `recover.py`. A pack's name has no dot and no underscore, so the names below can't clash with one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from market.disk.failures import disk_failures
from market.disk.identity import Identity
from market.errors import Untrusted
from market.installer.receipt import Receipt, dump_receipt, parse_receipt

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root

INTENT_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Move:
    """The change of one pack's tree: `staged` takes the place of `live`. None stands for no tree, in a first install or a removal.

    `receipt` is the new one, None for a removal. With `keep` the replaced tree was edited by somebody and goes to the backups.
    `kept_archive` is the digest of the archive that waits in the stage to be kept. `doomed` is set where the live tree could not
    be renamed: it has been copied, `live` is the copy, and the original goes.
    """

    name: str
    staged: Identity | None
    live: Identity | None
    receipt: Receipt | None
    old_digest: str = ""
    keep: bool = False
    kept_archive: str = ""
    doomed: Identity | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """All moves of one transaction: after recovery all are done or none. `root` is the root's own directory at that time.

    `forgotten` are the digests of kept archives that nothing needs afterwards.
    """

    transaction: str
    root: Identity
    moves: tuple[Move, ...]
    forgotten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """The folder of one transaction below staging, and the places in it."""

    folder: Path

    @property
    def intent(self) -> Path:
        """Where the intent is written before it is put in force."""
        return self.folder / ".intent.json"

    def tree(self, name: str) -> Path:
        """Where a new tree waits, and after the switch the old one."""
        return self.folder / name

    def parked(self, name: str) -> Path:
        """Where an old tree goes when the two can't be swapped in one step."""
        return self.folder / f"{name}.old"

    def archive(self, name: str) -> Path:
        """Where an archive waits that shall be kept."""
        return self.folder / f"{name}.zip"

    def forgotten(self, digest: str) -> Path:
        """Where a kept archive goes that nothing needs any more."""
        return self.folder / f".{digest.removeprefix('sha256:')}.zip"

    def receipt(self, name: str) -> Path:
        """Where a new receipt waits."""
        return self.folder / f"{name}.json"


def stage_of(root: Root, transaction: str) -> Stage:
    """Return the stage of a transaction."""
    return Stage(root.staging / transaction)


def encode_intent(intent: Intent) -> bytes:
    """Return the bytes of an intent's file."""
    values = {
        "schema": INTENT_SCHEMA,
        "transaction": intent.transaction,
        "root": _dump_identity(intent.root),
        "forgotten": list(intent.forgotten),
        "moves": [_dump_move(move) for move in intent.moves],
    }
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode_intent(content: bytes, where: str) -> Intent:
    """Read the bytes of an intent's file; raises `Untrusted` naming `where`."""
    try:
        values = json.loads(content)
        if values["schema"] != INTENT_SCHEMA:
            raise ValueError(f"it has schema {values['schema']}; a newer Market may have written it")
        moves = tuple(_parse_move(move, where) for move in values["moves"])
        forgotten = tuple(str(digest) for digest in values.get("forgotten", ()))
        return Intent(str(values["transaction"]), Identity(*values["root"]), moves, forgotten)
    except (KeyError, TypeError, ValueError) as error:
        raise Untrusted(
            f"the intent {where} can't be read",
            why=str(error),
            hint="upgrade Market; or delete the file, then verify the root",
        ) from None


def load_intents(root: Root) -> tuple[Intent, ...]:
    """Return the open intents of a root, translated to the devices of today; raises `Untrusted` for one that can't be read."""
    found = _read_all(root)
    with disk_failures("look at the root", root.path):
        return tuple(_translate(decode_intent(content, str(path)), root_identity(root)) for path, content in found)


def root_identity(root: Root) -> Identity:
    """Return the identity of the root's directory; of the target where the root is a link. Raises OSError."""
    status = root.path.stat()
    return Identity(status.st_dev, status.st_ino)


def is_same_root(root: Root, intent: Intent) -> bool:
    """Answer whether the root is still the directory that the intent was written in; in a copy no (dev, ino) means anything."""
    return root_identity(root).inode == intent.root.inode


def _read_all(root: Root) -> list[tuple[Path, bytes]]:
    with disk_failures("read the intents in", root.intents):
        try:
            paths = sorted(
                path for path in root.intents.iterdir() if path.suffix == ".json" and not path.name.startswith(".")
            )
        except FileNotFoundError:
            return []
        found = []
        for path in paths:
            try:
                found.append((path, path.read_bytes()))
            except FileNotFoundError:  # its transaction ended meanwhile
                continue
        return found


def _translate(intent: Intent, here: Identity) -> Intent:
    """A device may have another number after a restart; the trees are on the root's own device, whatever its number is."""
    if here.device == intent.root.device:
        return intent

    def move_over(identity: Identity | None) -> Identity | None:
        same = identity is not None and identity.device == intent.root.device
        return Identity(here.device, identity.inode) if same and identity is not None else identity

    moves = tuple(
        replace(move, staged=move_over(move.staged), live=move_over(move.live), doomed=move_over(move.doomed))
        for move in intent.moves
    )
    return Intent(intent.transaction, Identity(here.device, intent.root.inode), moves)


def _dump_move(move: Move) -> dict[str, Any]:
    return {
        "name": move.name,
        "staged": _dump_identity(move.staged),
        "live": _dump_identity(move.live),
        "doomed": _dump_identity(move.doomed),
        "old_digest": move.old_digest,
        "keep": move.keep,
        "kept_archive": move.kept_archive,
        "receipt": None if move.receipt is None else dump_receipt(move.receipt),
    }


def _parse_move(values: dict[str, Any], where: str) -> Move:
    return Move(
        str(values["name"]),
        _parse_identity(values["staged"]),
        _parse_identity(values["live"]),
        None if values["receipt"] is None else parse_receipt(values["receipt"], where),
        str(values["old_digest"]),
        bool(values["keep"]),
        str(values.get("kept_archive", "")),
        _parse_identity(values["doomed"]),
    )


def _dump_identity(identity: Identity | None) -> list[int] | None:
    return None if identity is None else [identity.device, identity.inode]


def _parse_identity(value: object) -> Identity | None:
    match value:
        case None:
            return None
        case [int(device), int(inode)]:
            return Identity(device, inode)
    raise ValueError(f"{value!r} is not a device and an inode")
