"""Changing a root: lock it, then install or uninstall packs, all of them or none. Downloading and verifying is the caller's.

The order on disk (DESIGN 5): unpack into staging; one sync; intent; switch the trees; sync the folders; receipts; drop the
intent; retire the old trees. Whatever fails on the way is undone; whatever is killed on the way, the next lock settles.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.lock import lock_file
from market.installer.guard import commit_guarded
from market.installer.plan import Allowed, Change
from market.installer.recover import Recovered, recover
from market.installer.root import make_state
from market.installer.steps import install_steps, uninstall_steps
from market.trust.verify import VerifiedPack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from market.errors import Problem
    from market.installer.guard import Guard
    from market.installer.receipt import Origin
    from market.installer.root import Root

LOCK_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A verified pack that shall be installed. `publisher` is empty where no index vouches for one.

    `changes` says what was changed to make a pack of an archive that another program wrote.
    """

    verified: VerifiedPack
    publisher: str
    origin: Origin
    changes: tuple[Problem, ...] = ()


class LockedRoot:
    """A root whose lock this block holds and whose interrupted transactions are settled; `lock_root` makes it."""

    def __init__(self, root: Root, recovered: tuple[Recovered, ...], guard: Guard | None = None) -> None:
        self.root = root
        self.guard = guard
        self.recovered = recovered
        self._held = True

    def release(self) -> None:
        """Make this value useless; the lock goes with its block."""
        self._held = False

    def check_held(self) -> None:
        """Raise RuntimeError after the block's end: a change without the lock is a bug of the caller."""
        if not self._held:
            raise RuntimeError("the lock of this root is no longer held")


@contextmanager
def lock_root(
    root: Root, *, timeout_seconds: float = LOCK_TIMEOUT_SECONDS, guard: Guard | None = None
) -> Iterator[LockedRoot]:
    """Hold a root's lock for the block; interrupted transactions are settled first.

    `guard` is asked before each change and told afterwards; every program gives one.
    Raises `Unavailable` naming the holder's pid when another process keeps the lock, `Refused` where the root isn't writable.
    """
    make_state(root)
    with lock_file(root.lock, timeout_seconds):
        locked = LockedRoot(root, recover(root), guard)
        try:
            yield locked
        finally:
            locked.release()


def install_packs(
    locked: LockedRoot,
    arrivals: Sequence[Arrival],
    now: datetime,
    *,
    overwrite_edits: bool = False,
    accept_publisher: bool = False,
) -> tuple[Change, ...]:
    """Install verified packs, all or none, and return what changed in the order given.

    A tree that is there already, untouched, stays. Raises `Conflict` and changes nothing where a folder without a receipt has
    the name, where files were edited (unless `overwrite_edits`: the edited tree is then kept as a backup), where the
    version is there with another tree (unless `overwrite_edits`), where the publisher is another one (unless `accept_publisher`)
    and where the pack is pinned to another version.
    """
    locked.check_held()
    for arrival in arrivals:
        if not isinstance(arrival.verified, VerifiedPack):
            raise TypeError("only a VerifiedPack can be installed")
    allowed = Allowed(overwrite_edits, accept_publisher, other_tree=overwrite_edits)
    steps = [
        step
        for arrival in arrivals
        for step in install_steps(locked.root, arrival.verified, arrival.publisher, arrival.origin, now, allowed)
    ]
    return commit_guarded(locked, steps, now)


def uninstall_packs(locked: LockedRoot, names: Sequence[str], now: datetime) -> tuple[Change, ...]:
    """Uninstall packs, all or none. An edited tree is kept as a backup, and the change says where.

    Raises `NotFound` and changes nothing where one of them isn't installed. `now` is the time of the change.
    """
    locked.check_held()
    steps = [step for name in dict.fromkeys(names) for step in uninstall_steps(locked.root, name)]
    return commit_guarded(locked, steps, now)
