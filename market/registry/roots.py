"""Which units stand in a root: the directories below it, or the root itself where it holds a manifest at its top (mission E3)."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from market.registry.tree_marks import SKIPPED_FOLDERS
from market.registry.unit import UnitId

TOP_MANIFESTS = ("SKILL.md", "skill.json", "pack.yaml", ".claude-plugin/plugin.json", "openclaw.plugin.json")
RECEIPT_SUFFIX = ".json"

RootIdentity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RootReading:
    """What stands in a root now. `identity` is None, and `why` says the reason, where it can't be used."""

    root: str
    identity: RootIdentity | None
    units: tuple[UnitId, ...] = ()
    why: str = ""


def read_root(root: str, others: tuple[str, ...] = ()) -> RootReading:
    """List a root's units in the order of their names. A root that is missing or unreadable has none, and says why.

    `others` are the registry's further roots, whose folders aren't loaded a second time through a link.
    """
    try:
        identity = identify(root)
        names = sorted(os.listdir(root))
    except OSError as error:
        return RootReading(root, None, why=error.strerror or str(error))
    if is_own_unit(root):
        installed = installed_names(root)
        units = (
            UnitId(root, ""),
            *(UnitId(root, name) for name in names if name in installed and is_unit_folder(root, name)),
        )
    else:
        units = tuple(UnitId(root, name) for name in names if is_unit_folder(root, name, others))
    return RootReading(root, identity, units)


def identify(root: str) -> RootIdentity:
    """Return what tells a root from another one later put in its place; raises OSError where there is none."""
    status = Path(root).stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "it is not a directory")
    return status.st_dev, status.st_ino


def is_own_unit(root: str) -> bool:
    """Whether the root is a unit itself."""
    return any(Path(root, name).is_file() for name in TOP_MANIFESTS)


def is_unit_folder(root: str, name: str, others: tuple[str, ...] = ()) -> bool:
    """Whether a name below a root can be a unit: a directory, not hidden.

    A link counts if it leads elsewhere or nowhere, so that it can be said that it isn't followed; one to a directory below this root
    or one of the `others` doesn't, since that is a unit itself.
    """
    if name.startswith(".") or name in SKIPPED_FOLDERS:
        return False
    path = f"{root}/{name}"
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    if not stat.S_ISLNK(mode):
        return stat.S_ISDIR(mode)
    if Path(os.path.realpath(path)).exists() and not Path(path).is_dir():
        return False
    return all(leaves_root(path, one) for one in (root, *others)) or not Path(path).exists()


def is_link(path: str) -> bool:
    """Whether a symbolic link stands at a path."""
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        return False


def leaves_root(path: str, root: str) -> bool:
    """Whether a path, links followed, lies outside a root."""
    return not os.path.realpath(path).startswith(os.path.realpath(root).rstrip("/") + "/")


def installed_names(root: str) -> frozenset[str]:
    """Return the names of packs with a receipt."""
    try:
        names = os.listdir(f"{root}/.market/receipts")
    except OSError:
        return frozenset()
    return frozenset(name.removesuffix(RECEIPT_SUFFIX) for name in names if name.endswith(RECEIPT_SUFFIX))
