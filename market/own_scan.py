"""Market's own scan, behind the hook that plugins have too: what the author saw in `market check`, whoever checks it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.pack.dangers import find_dangers

if TYPE_CHECKING:
    from market.errors import Problem
    from market.pack.source import Source


class OwnScan:
    """Looks into every file of a pack. A refusal stops a publish; an install shows it."""

    @hookimpl
    def scan_pack(self, source: Source) -> tuple[Problem, ...]:
        """Return what is suspicious in the files, with file, line and column."""
        return tuple(find_dangers(source))


def own_scan() -> dict[str, object]:
    """Return Market's own implementation by name, for `load_plugins`."""
    return {"market-scan": OwnScan()}
