"""Hold the tree of a pack while a call runs in it, so that it is neither mixed with another version nor deleted."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.identity import Identity, identity_of
from market.disk.lease import lease_directory
from market.errors import NotFound
from market.run.executor import Replaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.hookspecs import Target


@contextmanager
def lease_unit(target: Target) -> Iterator[int]:
    """Open the pack's directory under a lease; raises Replaced if another one stands there than the one that was found."""
    try:
        descriptor = lease_directory(Path(target.unit))
    except NotFound as error:
        raise _replaced(target, "nothing stands in its place") from error
    try:
        if identity_of(descriptor) != Identity(target.device, target.inode):
            raise _replaced(target, "another directory stands in its place")
        yield descriptor
    finally:
        os.close(descriptor)


def _replaced(target: Target, why: str) -> Replaced:
    return Replaced(
        f"the pack {target.pack} at {target.unit} was replaced or removed since it was found",
        why=why,
        hint="try again: the registry catches up within moments",
    )
