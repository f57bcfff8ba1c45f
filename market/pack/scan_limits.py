"""How much of a pack is looked into, so that no pack can keep an index busy: bytes, and places that have to be read twice.

Every pattern that runs over a whole file passes it once, whatever stands there; what costs more is tried at places that it found, and these
are counted. Where a limit is reached, a warning says what wasn't looked into.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_SCANNED_BYTES = 16 << 20  # of one file
MAX_PACK_SCANNED_BYTES = 64 << 20  # of one pack; about two seconds
MAX_PACK_TRIES = 50_000  # places in one pack; the dearest takes 20 microseconds


@dataclass(slots=True)
class ScanBudget:
    """What may still be looked into of a pack; its scanners take from it."""

    bytes: int = MAX_PACK_SCANNED_BYTES
    tries: int = MAX_PACK_TRIES

    @property
    def is_spent(self) -> bool:
        """Whether nothing more of the pack is looked into."""
        return self.bytes <= 0 or self.tries < 0

    def try_one(self) -> bool:
        """Take one place; false where there were too many."""
        self.tries -= 1
        return self.tries >= 0
