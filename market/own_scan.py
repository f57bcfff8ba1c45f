"""Market's own scan, behind the hook that plugins have too: what the author saw in `market check`, whoever checks it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.hookspecs import ACT_PUBLISH, hookimpl
from market.pack.dangers import find_dangers

if TYPE_CHECKING:
    from market.errors import Problem
    from market.pack.source import Source


class OwnScan:
    """Looks into every file of a pack. A refusal stops a publish; an install shows it, but for secrets: they harm who wrote them."""

    @hookimpl
    def scan_pack(self, source: Source, act: str) -> tuple[Problem, ...]:
        """Return what is suspicious in the files, with file, line and column."""
        return tuple(find_dangers(source, with_secrets=act == ACT_PUBLISH))


def own_scan() -> dict[str, object]:
    """Return Market's own implementation by name, for `load_plugins`."""
    return {"market-scan": OwnScan()}
