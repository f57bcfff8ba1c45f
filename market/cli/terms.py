"""Under which terms this user installs: flags and settings as one value. What they mean is `market.installer.prepare`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.installer.machine import Machine
from market.installer.prepare import Terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.market import Market


def terms_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--strict-needs`."""
    return click.option(
        "--strict-needs",
        is_flag=True,
        help="Refuse what needs a program, variable or host that is missing here. [default: install it as ineligible]",
    )(function)


def make_terms(market: Market, *, strict_needs: bool) -> Terms:
    """Return the terms that flags and settings make."""
    return Terms(machine=Machine(market.environ), strict_needs=strict_needs)
