"""Which installed packs require another one: what their own trees say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.installer.closure import load_requires
from market.installer.receipt import receipt_names

if TYPE_CHECKING:
    from market.installer.root import Root
    from market.names import Requirement


def find_requirers(root: Root, name: str) -> tuple[tuple[str, Requirement], ...]:
    """Return every installed pack that requires `name`, with how it says so, sorted by name."""
    return tuple(
        (other, requirement)
        for other in receipt_names(root)
        if other != name
        for requirement in load_requires(root, other)
        if requirement.name == name
    )
