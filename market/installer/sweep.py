"""Cleaning up behind transactions: leftovers in staging, and replaced trees that nobody reads any more. Never an error."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from market.disk.lease import claim_directory
from market.disk.remove import empty_directory, remove_tree
from market.errors import MarketError
from market.installer.layout import Layout, load_layout
from market.installer.skill_tree import GUIDE_FILE
from market.installer.switch import retire_stage

if TYPE_CHECKING:
    from pathlib import Path

    from market.installer.root import Root


def sweep_staging(root: Root) -> None:
    """Retire the stages that no intent speaks of. What fails stays for the next writer."""
    with suppress(OSError):
        for transaction in os.listdir(root.staging):
            if not root.intent(transaction).exists():
                with suppress(OSError):
                    retire_stage(root, transaction)


def sweep_retired(root: Root) -> None:
    """Delete the retired trees without leases. What is leased, or can't be deleted, stays for the next writer."""
    with suppress(OSError):
        for name in os.listdir(root.retired):
            with suppress(OSError):
                _delete_unleased(root.retired / name)


def hide_backups(root: Root) -> None:
    """In a root of layout `skills`, give the guides in kept trees another name: opencode looks into hidden folders too [m]."""
    with suppress(OSError, MarketError):
        if load_layout(root) is Layout.SKILLS:
            for guide in root.backups.rglob(GUIDE_FILE):
                guide.rename(guide.with_name(f"{GUIDE_FILE}.kept"))


def _delete_unleased(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except PermissionError:
        # Whoever can't open it can't lease it either; remove_tree gives itself the right.
        remove_tree(path)
        return
    try:
        # Held while deleting: a reader that opened it before the switch and comes to lease it now is turned away.
        if claim_directory(descriptor):
            empty_directory(descriptor)
            os.rmdir(path)  # noqa: PTH106
    finally:
        os.close(descriptor)
