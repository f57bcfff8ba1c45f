"""How packs lie in a root: a directory a pack, or a directory a skill as other programs want it. Decided once a root, and kept in it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput
from market.installer.receipt import receipt_names

if TYPE_CHECKING:
    from market.installer.root import Root
    from market.installer.transaction import LockedRoot


class Layout(StrEnum):
    """`packs`: ROOT/PACK/..., `skills`: ROOT/SKILL/SKILL.md."""

    PACKS = "packs"
    SKILLS = "skills"


def load_layout(root: Root) -> Layout:
    """Return a root's layout; `packs` where nothing says otherwise."""
    with disk_failures("read the layout of", root.path):
        try:
            text = root.layout.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return Layout.PACKS
        except ValueError:
            text = "?"
    return parse_layout(text, str(root.layout))


def parse_layout(text: str, where: str) -> Layout:
    """Return the layout of a name; raises `InvalidInput` naming `where`."""
    if text not in tuple(Layout):
        raise InvalidInput(
            f"{where} names no layout", why=f"it says {text[:40]!r}", hint="upgrade Market, or restore the file"
        )
    return Layout(text)


def set_layout(locked: LockedRoot, layout: Layout) -> None:
    """Make a root's layout this one; raises `Conflict` where packs lie in it in the other one."""
    locked.check_held()
    root = locked.root
    standing = load_layout(root)
    if standing is layout:
        return
    if receipt_names(root):
        raise Conflict(
            f"the root {root.path} holds packs in the layout {standing}",
            why=f"the layout {layout} was asked for, and one root has one layout",
            hint="choose another root, or uninstall its packs first",
            details={"root": str(root.path), "layout": str(standing)},
        )
    with disk_failures("write the layout of", root.path):
        write_atomic(root.layout, f"{layout}\n".encode(), 0o600)
