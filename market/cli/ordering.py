"""From what somebody asks to install to an order. What isn't asked for on an index is read in `arriving.py`, which loads much more."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from market.cli.targets import folder_hint, is_path
from market.errors import MarketError, NotFound, Unavailable
from market.installer.closure import Order, order_newest
from market.names import parse_requirement

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from market.cli.market import Market
    from market.installer.dependencies import DependencyTerms
    from market.installer.transaction import Arrival
    from market.pack.inspect import Given


def read_order(
    market: Market,
    stack: ExitStack,
    targets: Sequence[str],
    given: Given,
    *,
    follow: bool,
    dependencies: DependencyTerms,
) -> Order:
    """Return the order that targets make. `given` is for folders and archives, so with it a target is a path or an address."""
    on_disk = [target for target in targets if is_path(target) or given.name or given.version]
    requirements = [parse_requirement(target) for target in targets if target not in on_disk]
    arrivals = [_fetch(market, stack, target, given, dependencies) for target in dict.fromkeys(on_disk)]
    return order_newest(requirements, arrivals, follow=follow)


def add_folder_hint(error: MarketError, targets: Sequence[str]) -> MarketError:
    """Return the error with a hint where a bare name was looked up in vain and a folder of that name lies here."""
    is_of_target = "wants" not in error.details  # else it is about something that a target requires
    if isinstance(error, NotFound | Unavailable) and is_of_target:
        hints = (error.hint, *(folder_hint(target) for target in targets if not is_path(target)))
        error.hint = "; ".join(hint for hint in hints if hint)
    return error


def _fetch(market: Market, stack: ExitStack, target: str, given: Given, dependencies: DependencyTerms) -> Arrival:
    # Only now: an install from an index needs none of the archive formats of other programs.
    arrival: Arrival = importlib.import_module("market.cli.arriving").fetch_arrival(
        market, stack, target, given, dependencies
    )
    return arrival
