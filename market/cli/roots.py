"""Which roots a command works on: those named with `--root`, else the environment's, else the home's own."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from market.cli.beside import beside_hint
from market.errors import NotFound
from market.installer.listing import list_installed
from market.installer.root import Root, default_roots, open_root
from market.installer.root_place import check_place, note_place
from market.installer.targets import target_roots

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.cli.market import Market
    from market.cli.output import Output
    from market.installer.listing import Installed

ROOT_HELP = "A root. [default: MARKET_ROOTS and ONGRID_SKILLS_EXTERNAL_DIRS, else skills in MARKET_HOME]"


def root_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--root`, which may be given several times."""
    return click.option("--root", "roots", multiple=True, metavar="DIR", help=ROOT_HELP)(function)


def one_root_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--root`, once."""
    return click.option("--root", default="", metavar="DIR", help=ROOT_HELP)(function)


def chosen_roots(market: Market, named: tuple[str, ...]) -> tuple[Root, ...]:
    """Return the roots to read, in the order of precedence. One that is named must exist.

    Where none is named: the default ones, then the folders of other programs into which something was installed (--target), the
    project's before the user's.
    """
    if named:
        return tuple(open_root(Path(name), create=False) for name in named)
    defaults = [path for path in default_roots(market.environ, market.home).paths if path.is_dir()]
    others = [path for path in target_roots(market.environ, Path.cwd()) if Root(path).layout.is_file()]
    return tuple(open_root(path, create=False) for path in dict.fromkeys((*defaults, *others)))


def writable_root(market: Market, named: str, output: Output, *, create: bool = True) -> Root:
    """Return the one root to install into: the one named, else the first of the defaults. With `create` it is made.

    Without, one that is missing counts as empty: that is for looking what would be done. What is special about it is remarked.
    """
    if named:
        return _open(Path(named), output, create=create)
    found = default_roots(market.environ, market.home)
    for entry, why in found.skipped:
        output.remark(f"root {entry} is skipped: {why}")
    return _open(found.paths[0], output, create=create)


def _open(path: Path, output: Output, *, create: bool) -> Root:
    check_place(path.absolute())
    if not create and not path.exists():
        return Root(path.absolute())
    root = open_root(path, create=create)
    for note in note_place(root.path):
        output.remark(note.text)
    return root


def find_installed(market: Market, name: str, named: tuple[str, ...]) -> Installed:
    """Return the installed pack of a name, from the first root that has it."""
    roots = chosen_roots(market, named)
    rows = [installed for root in roots for installed in list_installed(root)]
    for installed in rows:
        if installed.name == name:
            return installed
    near = difflib.get_close_matches(name, [row.name for row in rows], n=3)
    raise NotFound(
        f"no pack {name!r} is installed",
        why=f"looked in {', '.join(str(root.path) for root in roots) or 'no root: none exists yet'}",
        hint=beside_hint(name) or (f"installed is {', '.join(near)}" if near else "see `market list`"),
    )
