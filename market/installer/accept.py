"""Accepting the edits of installed packs: a new receipt whose record is that of the tree as it stands. Nothing in the tree changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.errors import Conflict, NotFound, Refused
from market.installer.nudge import nudge_unit
from market.installer.receipt import Accepted, Receipt, encode_receipt
from market.installer.tree_state import TreeState, read_unit
from market.names import parse_pack_name
from market.pack.record import make_record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from market.installer.root import Root
    from market.installer.transaction import LockedRoot
    from market.names import PackName


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What was accepted in one pack: the files that differed, and the tree digest before and now. No files: nothing had changed."""

    name: str
    files: tuple[str, ...]
    old_digest: str
    new_digest: str


def accept_edits(locked: LockedRoot, name: str, now: datetime) -> Acceptance:
    """Take the tree of one directory, as it stands, for what was installed; see `accept_all`."""
    return accept_all(locked, (name,), now)[0]


def accept_all(locked: LockedRoot, names: Sequence[str], now: datetime) -> tuple[Acceptance, ...]:
    """Take the trees of some directories of a root for what was installed: a pack's one, or those of its skills.

    Their release stays known, so that an upgrade still asks before replacing them. No receipt is written before all were looked at.
    Raises `NotFound` where it isn't installed, `Conflict` where its tree or receipt is missing, and `Refused` where the tree holds
    what no pack may hold, such as a link.
    """
    locked.check_held()
    root = locked.root
    looked = [_look(root, parse_pack_name(name), now) for name in names]
    for done, new in looked:
        if new is not None:
            with disk_failures("write", root.receipt(new.name)):
                write_atomic(root.receipt(new.name), encode_receipt(new))
            nudge_unit(root, done.name)
    return tuple(done for done, _ in looked)


def _look(root: Root, canonical: PackName, now: datetime) -> tuple[Acceptance, Receipt | None]:
    """Return what would be accepted in one directory, and its new receipt; None where nothing differs."""
    with read_unit(root, canonical, thorough=True) as reading:
        old = reading.receipt
        if reading.state is TreeState.UNMANAGED:
            raise NotFound(
                f"{root.tree(canonical)} is there, but Market didn't install it", hint="it needs no accepting"
            )
        if old is None or reading.folder is None:
            raise Conflict(
                f"{canonical} can't be accepted as it stands in {root.path}",
                why=reading.trouble or "its directory is missing",
                hint="install it again",
            )
        if reading.state is TreeState.INTACT:
            return Acceptance(canonical, (), old.tree_digest, old.tree_digest), None
        record = make_record(reading.folder.source)
        edited = reading.edited_files
    new = replace(old, record=record, tree_digest=record.tree_digest, accepted=Accepted(now, old.release_digest))
    _check_stands(root, new)
    return Acceptance(canonical, edited, old.tree_digest, new.tree_digest), new


def _check_stands(root: Root, new: Receipt) -> None:
    """Refuse what would count as edited for ever: a file that is reached through a link has no content of its own."""
    with read_unit(root, new.name) as reading:
        folder = reading.folder
        links = [path for path, file in folder.source.walked.items() if file.place != path] if folder else []
    if links:
        raise Refused(
            f"the edits of {new.name} can't be accepted",
            why=f"these are links, which no pack may hold: {', '.join(sorted(links))}",
            hint="replace them by the files that they lead to",
        )
