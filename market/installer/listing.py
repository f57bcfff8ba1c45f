"""What is installed in a root: every receipt with the state of its tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.errors import NotFound, Untrusted
from market.installer.intent import load_intents
from market.installer.receipt import receipt_names
from market.installer.tree_state import TreeState, read_unit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from market.installer.receipt import Receipt
    from market.installer.root import Root

_WORSE = (TreeState.INTACT, TreeState.UNMANAGED, TreeState.EDITED, TreeState.MISSING, TreeState.BROKEN)


@dataclass(frozen=True, slots=True)
class Installed:
    """One installed pack. `receipt` is None only in state `broken`, and `trouble` then says why it can't be read.

    In a root of layout `skills` a pack may have several directories: `path` is the first, `skills` are the names of all, and
    edited files begin with them.
    """

    name: str
    receipt: Receipt | None
    state: TreeState
    path: Path
    edited_files: tuple[str, ...] = ()
    trouble: str = ""
    skills: tuple[str, ...] = ()


def list_installed(root: Root, *, thorough: bool = False) -> tuple[Installed, ...]:
    """Return what is installed, sorted by name. Folders without a receipt aren't listed; an unreadable receipt is, as broken."""
    return _fold(list_directories(root, thorough=thorough))


def list_directories(root: Root, *, thorough: bool = False) -> tuple[Installed, ...]:
    """Return the same, a row a directory: in a root of layout `skills` a pack has one for each skill, and they bear their names."""
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


def _fold(rows: Iterable[Installed]) -> tuple[Installed, ...]:
    """Return one row a pack; the directories of its skills together are in the worst of their states."""
    groups: dict[str, list[Installed]] = {}
    for row in rows:
        groups.setdefault(row.receipt.pack_name if row.receipt else row.name, []).append(row)
    return tuple(sorted((_fold_pack(name, group) for name, group in groups.items()), key=lambda row: row.name))


def _fold_pack(name: str, group: list[Installed]) -> Installed:
    if len(group) == 1 and (group[0].receipt is None or group[0].receipt.part_of is None):
        return group[0]
    worst = max(group, key=lambda row: _WORSE.index(row.state))
    edited = tuple(f"{row.name}/{file}" for row in group for file in row.edited_files)
    return replace(worst, name=name, path=group[0].path, edited_files=edited, skills=tuple(row.name for row in group))
