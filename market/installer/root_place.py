"""What is special about the directory that shall be a root: a link, a mount point, open to everybody, or in another root's way."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput
from market.installer.root import STATE_FOLDER

OTHERS_WRITE = stat.S_IWOTH
RECEIPTS = f"{STATE_FOLDER}/receipts"


@dataclass(frozen=True, slots=True)
class RootNote:
    """Something that the reader should know of a root, and that stops nothing. `kind` is linked, mounted or world-writable."""

    kind: str
    text: str


def check_place(path: Path) -> None:
    """Raise where a directory, existing or not, can't become or be a root: a link to nothing, or roots within each other.

    Both would load the same directories, each under another name, and neither would know who may change them.
    """
    with disk_failures("look at the root", path):
        if path.is_symlink() and not path.exists():
            raise InvalidInput(
                f"the root {path} is a link to nothing",
                why=f"it points to {os.readlink(path)}",  # noqa: PTH115 - as it is written
                hint="create that directory, or delete the link",
            )
        real = Path(os.path.realpath(path))
        outer = next((parent for parent in real.parents if _is_root(parent)), None)
        inner = next((child for child in _folders(real) if _is_root(child)), None)
    if outer is not None:
        raise _nested(path, f"it lies inside the root {outer}", outer)
    if inner is not None:
        raise _nested(path, f"the root {inner} lies inside it", inner)


def note_place(path: Path) -> tuple[RootNote, ...]:
    """Return what is special about an existing root. A mount point is told of until something is installed in it."""
    notes = []
    with disk_failures("look at the root", path):
        if path.is_symlink():
            notes.append(
                RootNote("linked", f"the root {path} is a link: packs are installed in {os.path.realpath(path)}")
            )
        if os.path.ismount(path) and not _is_root(path):
            text = f"the root {path} is a mount point: while it isn't mounted, its packs are missing"
            notes.append(RootNote("mounted", text))
        mode = path.stat().st_mode
        if mode & OTHERS_WRITE:
            text = (
                f"everybody on this machine may change what is in the root {path} (mode {stat.S_IMODE(mode):04o}), "
                f"and what is there is run: `chmod o-w {path}`"
            )
            notes.append(RootNote("world-writable", text))
    return tuple(notes)


def _is_root(path: Path) -> bool:
    """Whether something is installed there; state without receipts is what a command left that found nothing."""
    try:
        with os.scandir(Path(path, RECEIPTS)) as entries:
            return any(entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return False


def _folders(path: Path) -> list[Path]:
    try:
        with os.scandir(path) as entries:
            return [Path(entry.path) for entry in entries if not entry.name.startswith(".") and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _nested(path: Path, why: str, other: Path) -> Conflict:
    return Conflict(
        f"{path} can't be a root",
        why=f"{why}, and both would hold the same directories",
        hint="choose a directory beside it",
        details={"root": str(path), "other": str(other)},
    )
