"""What `install` does with a lock file: `--locked` and `--frozen`."""

from __future__ import annotations

import importlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from market.cli.lock_place import check_frozen, existing_lock, open_lock
from market.cli.targeting import give_layout, open_place
from market.installer.layout import parse_layout
from market.installer.lock_file import LOCK_NAME
from market.names import parse_pack_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.permit import Permit
    from market.cli.targeting import Place
    from market.installer.root import Root
    from market.installer.transaction import Arrival


def locked_arrivals(
    market: Market, output: Output, stack: ExitStack, root: Root, named: str | None, names: Iterable[str]
) -> list[Arrival]:
    """Return what `install --locked` installs: the named packs of the lock file, or all of it."""
    place = existing_lock(Path(named or LOCK_NAME))
    # Only now: what restores a lock file also reads folders and archives of every sort.
    restoring = importlib.import_module("market.cli.restoring")
    chosen = restoring.choose_locked(place, map(parse_pack_name, names))
    arrivals: list[Arrival] = restoring.restore_all(market, output, stack, root, place, chosen)
    return arrivals


def open_root_of_lock(
    market: Market, output: Output, place: Place, named: str | None, *, locked: bool, create: bool
) -> Root:
    """Return the root that is meant; with `--locked` it is the one that the lock file describes, in that file's layout."""
    described = str(existing_lock(Path(named or LOCK_NAME)).described_root(market)) if locked else ""
    into = open_place(market, place, output, create=create, otherwise=described)
    if locked and create:
        give_locked_layout(into, named)
    return into


def give_locked_layout(root: Root, named: str | None) -> None:
    """Make a root's layout the one that the lock file says."""
    place = existing_lock(Path(named or LOCK_NAME))
    if place.lock.layout:
        give_layout(root, parse_layout(place.lock.layout, str(place.path)))


def permit_locked(permit: Permit, named: str | None, *, locked: bool, frozen: bool) -> Permit:
    """Return what `--locked` and `--frozen` add to a permit: who wrote the file knew its publishers, and it mustn't change."""
    check = partial(check_unlocked, named) if frozen else None
    return replace(permit, accept_publisher=permit.accept_publisher or locked, check=check)


def check_unlocked(named: str | None, arrivals: Iterable[Arrival]) -> None:
    """Raise `Conflict` where installing these would change the lock file, or it has none of them."""
    place = open_lock(Path(named or LOCK_NAME))
    check_frozen(place, [one.verified for one in arrivals])
