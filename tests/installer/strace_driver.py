"""One piece of work on one root, in a process of its own, so that strace can make any of its system calls fail: `WORK ROOT`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import MarketError
from market.installer.dependencies import DependencyTerms
from market.installer.repair import clear_leftovers
from market.installer.rollback import rollback_packs
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root, uninstall_packs
from tests.installer.builders import NOW, an_arrival, install

if TYPE_CHECKING:
    from collections.abc import Callable


def prepare(root: Root) -> None:
    install(root, an_arrival("first"), an_arrival("second"))


def install_third(root: Root) -> None:
    install(root, an_arrival("third"))


def upgrade(root: Root) -> None:
    install(root, an_arrival("first", "2.0.0"), an_arrival("second", "2.0.0"), an_arrival("third"))


def rollback(root: Root) -> None:
    with lock_root(root) as locked:
        rollback_packs(locked, ["first", "second"], NOW, dependencies=DependencyTerms())


def uninstall(root: Root) -> None:
    with lock_root(root) as locked:
        uninstall_packs(locked, ["first", "second"], NOW)


def collect(root: Root) -> None:
    """Settle what was interrupted, sweep, and delete what nobody needs: garbage collection and recovery are one act."""
    with lock_root(root) as locked:
        clear_leftovers(locked)


WORKS: dict[str, Callable[[Root], None]] = {
    "install": install_third,
    "upgrade": upgrade,
    "rollback": rollback,
    "uninstall": uninstall,
    "collect": collect,
}


def main(arguments: list[str]) -> int:
    """Do it; 1 says that Market refused in its own words."""
    work, path = arguments
    try:
        WORKS[work](open_root(Path(path), create=False))
    except MarketError as error:
        sys.stderr.write(f"{error.message}: {error.why}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
