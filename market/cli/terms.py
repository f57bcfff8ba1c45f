"""Under which terms this user installs: flags and settings as one value. What they mean is `market.installer.prepare`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from market.installer.dependencies import make_dependency_terms
from market.installer.machine import Machine
from market.installer.prepare import Terms
from market.resolve.policy import parse_ages

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.market import Market
    from market.installer.root import Root


def terms_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--strict-needs` and `--minimum-release-age`."""
    function = click.option(
        "--minimum-release-age",
        default="",
        metavar="AGE",
        help="How long a release must have been published, as 24h or 3d; 0 for any. [default: as in config.toml, else 0]",
    )(function)
    return click.option(
        "--strict-needs",
        is_flag=True,
        help="Refuse what needs a program, variable or host that is missing here. [default: install it as ineligible]",
    )(function)


def make_terms(
    market: Market, minimum_release_age: str, *, strict_needs: bool, no_deps: bool = False, reuse: Root | None = None
) -> Terms:
    """Return the terms that flags and settings make. `reuse` is the root whose wheel packs keep what was fetched for them."""
    dependencies = make_dependency_terms(market.environ, fetch=not no_deps, reuse=reuse)
    ages = parse_ages(market.settings.minimum_release_age(minimum_release_age))
    return Terms(ages, Machine(market.environ), strict_needs=strict_needs, dependencies=dependencies)
