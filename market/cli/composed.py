"""How is told what a wheel pack depends on: in fields and in sentences. Nothing is said of other packs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.installer.composition import say_left_out

if TYPE_CHECKING:
    from market.installer.composition import Composition


def composition_fields(composition: Composition | None) -> dict[str, Any]:
    """Return a pack's dependencies, and what --no-deps left out, as `--json` prints them."""
    if composition is None:
        return {"dependencies": [], "left_out": []}
    rows = [{"name": one.name, "version": one.version} for one in composition.dependencies]
    return {"dependencies": rows, "left_out": list(composition.left_out)}


def composition_lines(composition: Composition | None) -> list[str]:
    """Return the same in at most two lines."""
    if composition is None:
        return []
    return [
        *([f"with {_dependencies_text(composition)}"] if composition.dependencies else []),
        *([say_left_out(composition)] if composition.left_out else []),
    ]


def _dependencies_text(composition: Composition) -> str:
    return ", ".join(f"{one.name} {one.version}" for one in composition.dependencies)
