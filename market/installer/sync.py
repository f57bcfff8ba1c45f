"""Making a root equal a lock file: what differs, and installs and removals as one transaction. Fetching is the caller's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.installer.guard import commit_guarded
from market.installer.plan import Allowed
from market.installer.steps import install_steps, uninstall_steps
from market.installer.tree_state import TreeState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from market.installer.listing import Installed
    from market.installer.lock_file import Lock, LockedPack
    from market.installer.plan import Change
    from market.installer.transaction import Arrival, LockedRoot


@dataclass(frozen=True, slots=True)
class Difference:
    """How a root differs from a lock. `wanted` must be fetched: it is missing, another tree, or was edited; `extra` is in no block."""

    wanted: tuple[LockedPack, ...]
    same: tuple[LockedPack, ...]
    extra: tuple[str, ...]


def compare_root(lock: Lock, installed: Sequence[Installed]) -> Difference:
    """Hold what is installed against a lock, by digests: the same version with another tree is another pack."""
    good: dict[str, bool] = {}
    for one in installed:
        receipt = one.receipt
        name = str(receipt.pack_name) if receipt else one.name
        locked = lock.by_name.get(name)
        is_same = (
            receipt is not None and locked is not None and one.state is TreeState.INTACT and locked.is_standing(receipt)
        )
        good[name] = good.get(name, True) and is_same
    return Difference(
        tuple(pack for pack in lock.packs if not good.get(pack.name, False)),
        tuple(pack for pack in lock.packs if good.get(pack.name, False)),
        tuple(sorted(name for name in good if name not in lock.by_name)),
    )


def change_packs(
    locked: LockedRoot,
    arrivals: Sequence[Arrival],
    removed: Sequence[str],
    now: datetime,
    *,
    overwrite_edits: bool = False,
) -> tuple[Change, ...]:
    """Install some packs and uninstall others, all or none.

    The lock file was confirmed by whoever wrote it, so a changed publisher is no conflict here. Raises `Conflict` for edited
    packs (unless `overwrite_edits`) and for folders that somebody else put there.
    """
    locked.check_held()
    # The digest in the file is the confirmation, also where a version has another tree now.
    allowed = Allowed(overwrite_edits, accept_publisher=True, other_tree=True)
    coming = [
        step
        for arrival in arrivals
        for step in install_steps(locked.root, arrival.verified, arrival.publisher, arrival.origin, now, allowed)
    ]
    going = [step for name in removed for step in uninstall_steps(locked.root, name)]
    return commit_guarded(locked, [*coming, *going], now)
