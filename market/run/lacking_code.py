"""Why code can't import a module, where its pack was installed without what it depends on: said in the error of who calls it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import MarketError
from market.installer.composition import say_left_out
from market.installer.receipt import load_receipt
from market.installer.root import Root
from market.registry.unit import unit_of

if TYPE_CHECKING:
    from market.hookspecs import Target

NO_MODULE = "No module named"


def explain(skill: Target, error: str) -> str:
    """Return an error of a skill's code; where a module is missing that --no-deps left out, its first line says so."""
    if NO_MODULE not in error:
        return error
    unit = unit_of(skill)
    try:
        receipt = load_receipt(Root(Path(unit.root)), unit.name)
    except MarketError:
        return error
    why = say_left_out(receipt.composition if receipt else None)
    first, *more = error.split("\n", 1)
    return "\n".join((f"{first} (the pack was {why})", *more)) if why else error
