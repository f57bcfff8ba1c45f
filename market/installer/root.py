"""Roots: allow-listed directories into which packs are installed, with every path of their state, and the lists that name them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.disk.home import Home

# In this order; the second is the mission's own (A13).
ROOT_VARIABLES = ("MARKET_ROOTS", "ONGRID_SKILLS_EXTERNAL_DIRS")
STATE_FOLDER = ".market"


@dataclass(frozen=True, slots=True)
class Root:
    """A root by its absolute path; `open_root` makes it. State lies inside, since a root may be a mount point of its own."""

    path: Path

    @property
    def state(self) -> Path:
        """The folder of Market's own state (0700)."""
        return self.path / STATE_FOLDER

    @property
    def lock(self) -> Path:
        """The file that a writer locks."""
        return self.state / "lock"

    @property
    def layout(self) -> Path:
        """The file that says how packs lie here; none means a directory a pack."""
        return self.state / "layout"

    @property
    def intents(self) -> Path:
        """One file a running or interrupted transaction."""
        return self.state / "intents"

    @property
    def receipts(self) -> Path:
        """One file an installed pack."""
        return self.state / "receipts"

    @property
    def staging(self) -> Path:
        """One folder a running transaction: trees and files that wait to be switched in."""
        return self.state / "staging"

    @property
    def retired(self) -> Path:
        """Replaced trees that wait until nobody leases them."""
        return self.state / "retired"

    @property
    def backups(self) -> Path:
        """Replaced trees that somebody had edited; deleted by people only."""
        return self.state / "backups"

    @property
    def archives(self) -> Path:
        """The kept archives of the releases that stand here and of those before them."""
        return self.state / "archives"

    @property
    def pins(self) -> Path:
        """Which packs are held at which version, and why."""
        return self.state / "pins.json"

    @property
    def disabled(self) -> Path:
        """Which packs and skills somebody has switched off."""
        return self.state / "disabled.json"

    def archive(self, digest: str) -> Path:
        """Where the archive of a digest is kept."""
        return self.archives / f"{digest.removeprefix('sha256:')}.zip"

    def tree(self, name: str) -> Path:
        """Where a pack's live tree is."""
        return self.path / name

    def receipt(self, name: str) -> Path:
        """Where a pack's receipt is."""
        return self.receipts / f"{name}.json"

    def intent(self, transaction: str) -> Path:
        """Where a transaction's intent is."""
        return self.intents / f"{transaction}.json"


@dataclass(frozen=True, slots=True)
class RootList:
    """The roots of a list in their order, and the entries that were skipped, each with the reason, for the log."""

    paths: tuple[Path, ...]
    skipped: tuple[tuple[str, str], ...] = ()


def open_root(path: Path, *, create: bool) -> Root:
    """Return the root at a path, made absolute; with `create` the directory is made if it is missing.

    Raises `NotFound` where it is missing, `InvalidInput` where it is no directory, `Refused` where it can't be made.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would replace the name that the user gave
    with disk_failures("open the root", absolute):
        if create and not absolute.exists():
            absolute.mkdir(parents=True, exist_ok=True)
        absolute.stat()
        if not absolute.is_dir():
            raise InvalidInput(f"the root {absolute} is not a directory", hint="name a directory with --root")
    return Root(absolute)


def make_state(root: Root) -> None:
    """Create the folders of a root's state where they are missing."""
    with disk_failures("write to the root", root.path):
        if root.state.is_symlink():
            raise InvalidInput(
                f"{root.state} is a link", why="a root's state is never kept elsewhere", hint="delete the link"
            )
        for folder in (root.state, root.intents, root.receipts, root.staging, root.retired, root.archives):
            folder.mkdir(mode=0o700, exist_ok=True)


def parse_root_list(text: str) -> RootList:
    """Parse absolute paths separated by colon or comma (mission A13).

    A relative entry is skipped with its reason; an empty one and a repeated one say nothing.
    """
    paths: dict[Path, None] = {}
    skipped: list[tuple[str, str]] = []
    for entry in (part.strip() for part in re.split(r"[:,]", text)):
        if entry.startswith("/"):
            paths[Path(os.path.abspath(entry))] = None  # noqa: PTH100
        elif entry:
            skipped.append((entry, f"{entry!r} is not an absolute path"))
    return RootList(tuple(paths), tuple(skipped))


def default_roots(environ: Mapping[str, str], home: Home) -> RootList:
    """Return the roots that the environment names, all variables together, or the home's own root where it names none."""
    lists = [parse_root_list(environ.get(variable, "")) for variable in ROOT_VARIABLES]
    paths = tuple(dict.fromkeys(path for one in lists for path in one.paths)) or (home.skills,)
    return RootList(paths, tuple(entry for one in lists for entry in one.skipped))
