"""What is installed in a root: every receipt with the state of its tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.errors import NotFound, Untrusted
from market.installer.intent import load_intents
from market.installer.receipt import receipt_names
from market.installer.tree_state import TreeState, read_unit

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.receipt import Receipt
    from market.installer.root import Root


@dataclass(frozen=True, slots=True)
class Installed:
    """One installed pack. `receipt` is None only in state `broken`, and `trouble` then says why it can't be read."""

    name: str
    receipt: Receipt | None
    state: TreeState
    path: Path
    edited_files: tuple[str, ...] = ()
    trouble: str = ""


def list_installed(root: Root, *, thorough: bool = False) -> tuple[Installed, ...]:
    """Return what is installed, sorted by name. Folders without a receipt aren't listed; an unreadable receipt is, as broken."""
    listed = []
    for name in installed_names(root):
        try:
            with read_unit(root, name, thorough=thorough) as reading:
                listed.append(
                    Installed(
                        name, reading.receipt, reading.state, root.tree(name), reading.edited_files, reading.trouble
                    )
                )
        except NotFound:  # uninstalled meanwhile
            continue
    return tuple(one for one in listed if one.state is not TreeState.UNMANAGED)


def installed_names(root: Root) -> tuple[str, ...]:
    """Return the names that have a receipt or are being installed, sorted."""
    try:
        open_moves = {move.name for intent in load_intents(root) for move in intent.moves}
    except Untrusted:
        open_moves = set()
    return tuple(sorted({*receipt_names(root), *open_moves}))
