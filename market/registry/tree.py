"""One unit's directory as the loader takes it: its files, how they stand against the receipt, and the tree's digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.installer.tree_state import TreeState
from market.pack.record import FileRecord, Record, make_record
from market.pack.source import MemorySource, PartOfSource
from market.registry.judge import TreeStanding

if TYPE_CHECKING:
    from market.disk.walk import Folder
    from market.installer.receipt import Receipt
    from market.installer.tree_state import UnitReading
    from market.pack.source import Source
    from market.registry.tree_marks import TreeMarks
    from market.registry.unit import UnitId

MAX_HASHED_BYTES = 64 << 20
"""A tree without a receipt is hashed up to this size; a larger one has no tree digest, so nothing can be approved in it."""
MAX_HELD_BYTES = 256 << 10
MANIFEST_NAMES = ("skill.json", "skill.md")


@dataclass(frozen=True, slots=True)
class Tree:
    """What one reading of a unit's directory found."""

    unit: UnitId
    source: Source
    marks: TreeMarks
    identity: tuple[int, int]
    receipt: Receipt | None
    standing: TreeStanding
    digest: str


def take_tree(unit: UnitId, reading: UnitReading, folder: Folder, marks: TreeMarks, children: frozenset[str]) -> Tree:
    """Return the tree behind an open reading, without the folders at its top that are units of their own."""
    source: Source = PartOfSource(folder.source, children) if children else folder.source
    identity = folder.source.identity
    standing = TreeStanding(
        reading.receipt is not None or bool(reading.trouble),
        tuple(sorted((*reading.changed, *reading.missing))),
        reading.added,
        reading.trouble,
    )
    digest: str = ""
    if reading.receipt and reading.state is TreeState.INTACT:
        digest = reading.receipt.tree_digest
    else:
        source, digest = _hash_tree(source)
    return Tree(unit, source, marks, (identity.device, identity.inode), reading.receipt, standing, digest)


def _hash_tree(source: Source) -> tuple[Source, str]:
    """Return a tree's digest, and the tree: a small one in memory, since it is read again for its manifests."""
    files = source.files()
    size = sum(file.size for file in files)
    if size > MAX_HELD_BYTES:
        return source, make_record(source).tree_digest if size <= MAX_HASHED_BYTES else ""
    contents = {file.path: source.read(file.path) for file in files}
    executables = frozenset(file.path for file in files if file.executable)
    rows = (
        FileRecord(path, len(data), hashlib.sha256(data).hexdigest(), path in executables)
        for path, data in contents.items()
    )
    return MemorySource(contents, name=source.name, executables=executables), Record(tuple(rows)).tree_digest


def has_manifest(source: Source) -> bool:
    """Whether any file of a tree could be a skill's manifest, misspelt ones too."""
    return any(file.path.rpartition("/")[2].lower() in MANIFEST_NAMES for file in source.files())
