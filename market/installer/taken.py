"""Which names of skills that shall be installed other packs of the root hold or want, and who will hold them afterwards.

Reads; a name that is taken stops nothing. The rule itself - the pack whose name comes first - is the registry's.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.read import read_within
from market.errors import MarketError
from market.installer.layout import Layout, load_layout
from market.installer.receipt import load_receipts
from market.installer.tree_state import read_unit
from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.pack.inspect import Given, inspect_pack
from market.pack.skills import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from market.installer.preview import PackFacts
    from market.installer.receipt import Receipt
    from market.installer.root import Root

MANIFESTS = frozenset({GUIDE_FILE, COMMAND_FILE})
MAX_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Taken:
    """A skill's name that `pack` has too. `wins` says that the pack which is installed now will hold it, and not `pack`."""

    skill: str
    pack: str
    wins: bool


@dataclass(frozen=True, slots=True)
class _Holder:
    pack: str
    tree_digest: str
    skills: frozenset[str]


def find_taken(root: Root, arriving: Sequence[PackFacts]) -> dict[str, tuple[Taken, ...]]:
    """Return by pack what it shares with others, those that arrive with it included; a copy to the last byte counts for nothing.

    In a root of layout `skills` every skill has a folder of its name, and the transaction refuses a second one.
    """
    if not arriving or load_layout(root) is Layout.SKILLS:
        return {}
    names = {facts.name for facts in arriving}
    wanted = {fold_name(skill) for facts in arriving for skill, _, _ in facts.skills}
    others = [receipt for receipt in load_receipts(root) if receipt.name not in names]
    standing = [holder for receipt in others if (holder := _read_holder(root, receipt, wanted))]
    coming = [_Holder(facts.name, facts.tree_digest, _folded(row[0] for row in facts.skills)) for facts in arriving]
    return {
        facts.name: tuple(_compare(facts, [*standing, *(other for other in coming if other.pack < facts.name)]))
        for facts in arriving
    }


def _compare(facts: PackFacts, others: Sequence[_Holder]) -> Iterator[Taken]:
    """Yield what the pack shares with whoever would hold the name without it."""
    for skill, _, _ in facts.skills:
        sharing = [other for other in others if fold_name(skill) in other.skills]
        rival = min(sharing, key=lambda other: other.pack, default=None)
        if rival is not None and rival.tree_digest != facts.tree_digest:
            yield Taken(skill, rival.pack, wins=facts.name < rival.pack)


def _read_holder(root: Root, receipt: Receipt, wanted: set[str]) -> _Holder | None:
    """Return an installed pack's skills, or None where it has none of the wanted names. What can't be read holds nothing."""
    with suppress(MarketError, OSError):
        if not _mentions(root, receipt, wanted):
            return None
        with read_unit(root, receipt.name) as reading:
            given = Given(name=receipt.pack_name, version=receipt.version.text)
            pack = inspect_pack(reading.folder.source, given).pack if reading.folder else None
            return (
                _Holder(receipt.pack_name, receipt.tree_digest, _folded(skill.name for skill in pack.skills))
                if pack
                else None
            )
    return None


def _mentions(root: Root, receipt: Receipt, wanted: set[str]) -> bool:
    """Whether a manifest holds one of the names anywhere: parsing every pack of a large root would be felt, reading it isn't."""
    tree = os.open(root.tree(receipt.name), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for file in receipt.record.files:
            if file.path.rpartition("/")[2] in MANIFESTS:
                text = read_within(tree, file.path, MAX_MANIFEST_BYTES).decode(errors="replace")
                # A guide may be named by its folder, or by words that become a name.
                words = re.sub("[^a-z0-9]+", "_", f"{receipt.pack_name} {file.path} {text}".lower())
                if any(name.lower() in words for name in wanted):
                    return True
        return False
    finally:
        os.close(tree)


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(fold_name, names))
