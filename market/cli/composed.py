"""How is told what a pack needs beside it: what its Python code depends on, and the packs that it requires and aren't there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.installer.composition import say_left_out

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.installer.composition import Composition


def composition_fields(composition: Composition | None) -> dict[str, Any]:
    """Return a pack's dependencies, and what --no-deps left out, as `--json` prints them."""
    if composition is None:
        return {"dependencies": [], "left_out": []}
    rows = [{"name": one.name, "version": one.version} for one in composition.dependencies]
    return {"dependencies": rows, "left_out": list(composition.left_out)}


def composition_lines(composition: Composition | None, act: str = "installed") -> list[str]:
    """Return the same in at most two lines; none of a pack that is no wheel. `act` is what was done with it."""
    if composition is None:
        return []
    return [
        *([f"  with {_dependencies_text(composition)}"] if composition.dependencies else []),
        *([f"  {say_left_out(composition, act)}"] if composition.left_out else []),
    ]


def missing_rows(missing: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return which packs are required and aren't there, as `--json` prints them."""
    return [{"name": name, "requires": requires} for name, requires in missing]


def missing_lines(missing: Iterable[tuple[str, str]]) -> list[str]:
    """Return the same in sentences."""
    return [
        f"{name} requires {requires}, which is not installed: `market install '{requires}'`"
        for name, requires in missing
    ]


def _dependencies_text(composition: Composition) -> str:
    return ", ".join(f"{one.name} {one.version}" for one in composition.dependencies)
