"""`--root`, `--target` and `--scope`: which directory to install into, one's own or another program's."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from market.cli.roots import one_root_option, writable_root
from market.errors import InvalidInput
from market.installer.layout import Layout, load_layout, set_layout
from market.installer.targets import TARGETS, TargetScope, target_root
from market.installer.transaction import lock_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.root import Root


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody wants packs: a root, another program's folder, or with neither the default root."""

    root: str = ""
    target: str | None = None
    scope: str = str(TargetScope.USER)

    def name(self, market: Market) -> str:
        """Return the path that is named; empty for the default root."""
        if self.target is None:
            return self.root
        if self.root:
            raise InvalidInput("--root and --target exclude each other", hint="give one of them")
        return str(target_root(self.target, TargetScope(self.scope), market.environ, Path.cwd()))


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--target` and `--scope`."""
    function = click.option(
        "--scope",
        type=click.Choice([str(scope) for scope in TargetScope]),
        default=str(TargetScope.USER),
        show_default=True,
        help="With --target: for this user, or for the project in this folder.",
    )(function)
    return click.option(
        "--target",
        type=click.Choice(list(TARGETS)),
        default=None,
        help="The folder of another program, skill by skill.",
    )(function)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--root`, `--target` and `--scope`; the command is handed one `place`."""

    @functools.wraps(function)
    def run(*arguments: Any, root: str, target: str | None, scope: str, **values: Any) -> Any:
        return function(*arguments, place=Place(root, target, scope), **values)

    return one_root_option(target_options(run))


def open_place(market: Market, place: Place, output: Output, *, create: bool, otherwise: str = "") -> Root:
    """Return the root to install into, with the layout that a target needs; without `create` nothing is written.

    `otherwise` is the root where none is named.
    """
    into = writable_root(market, place.name(market) or otherwise, output, create=create)
    if place.target is not None and create:
        give_layout(into, Layout.SKILLS)
    return into


def give_layout(root: Root, layout: Layout) -> None:
    """Make a root's layout this one, if it isn't."""
    if load_layout(root) is not layout:
        with lock_root(root) as locked:
            set_layout(locked, layout)
