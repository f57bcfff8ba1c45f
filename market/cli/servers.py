"""Loading the servers' own command groups, which need an extra that a client-only install doesn't have."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from market.errors import Unavailable

if TYPE_CHECKING:
    from types import ModuleType

OWN = ("market", "index")


def load_server(module: str, extra: str) -> ModuleType:
    """Import a server's module by name; a missing dependency is `Unavailable` and names the extra. A fault of ours stays one."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] in OWN and missing != "index":
            raise
        raise Unavailable(
            f"`market {extra}` needs parts that aren't installed",
            why=f"no module named {missing!r}",
            hint=f"pip install 'skill-market[{extra}]'",
        ) from None
