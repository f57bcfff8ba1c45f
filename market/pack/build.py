"""From a tree to its archive: inspect, refuse what can't be carried, write."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.errors import InvalidInput
from market.names import Digest
from market.pack.archive_write import canonical_source, write_archive
from market.pack.inspect import Given, inspect_pack

if TYPE_CHECKING:
    from market.errors import Problem
    from market.model import Pack
    from market.pack.record import Record
    from market.pack.source import Source


@dataclass(frozen=True, slots=True)
class Built:
    """An archive that was written: what it holds, its digest and its size in bytes."""

    pack: Pack
    record: Record
    problems: tuple[Problem, ...]
    archive_digest: Digest
    size: int


def archive_pack(source: Source, given: Given, out: BinaryIO) -> Built:
    """Inspect a tree and write its canonical archive. `out` need not be seekable.

    Raises `InvalidInput` with all problems where the pack has an error, or works on this machine only; nothing is written then.
    Refusals (a missing version, say) don't stop an archive; they are in `problems`, and publishing stops at them.
    """
    inspection = inspect_pack(source, given)
    if inspection.pack is None or inspection.archive_blockers:
        count = len(inspection.archive_blockers)
        raise InvalidInput(
            f"the pack has {count} error{'' if count == 1 else 's'} and can't be archived",
            problems=inspection.problems,
            hint="correct what is listed",
        )
    hashing = _HashingWriter(out)
    record = write_archive(canonical_source(source, inspection.pack), hashing)  # type: ignore[arg-type]
    return Built(
        inspection.pack, record, inspection.problems, Digest(f"sha256:{hashing.digest.hexdigest()}"), hashing.size
    )


class _HashingWriter:
    """Passes bytes on, counting and hashing them."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.digest = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> int:
        """Write all of the bytes."""
        self._out.write(data)
        self.digest.update(data)
        self.size += len(data)
        return len(data)
