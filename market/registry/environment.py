"""Plugin packs that were installed into this process's own environment, by pip for example: found by their entry points.

Nobody has recorded their files, so they are unmanaged. Their content loads; their python skills don't, since they would run
among the host's own modules. Nothing of them is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from market.discovery import find_entries
from market.errors import InvalidInput
from market.names import parse_pack_name
from market.pack.wheel_metadata import GROUP
from market.registry.live import SOURCE_PLUGIN
from market.registry.unit import UnitId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from market.registry.unit import Dropped, LoadedUnit

PYTHON_RULE = "entry-python"

_log = logging.getLogger("market.registry")


class EnvironmentPacks:
    """Finds plugin packs in the environment and loads them; other units are left to `load_unit`."""

    def __init__(self, load_unit: Callable[[UnitId], LoadedUnit | None]) -> None:
        self._load_unit = load_unit
        self._found: dict[UnitId, tuple[str, str]] = {}
        self._gone: frozenset[UnitId] = frozenset()

    def find(self) -> tuple[UnitId, ...]:
        """Return the packages of all plugin packs that are installed now."""
        importlib.invalidate_caches()
        found: dict[UnitId, tuple[str, str]] = {}
        for entry in find_entries(GROUP):
            package = entry.target.partition(":")[0].partition(".")[0].strip()
            if place := _find_package(package):
                found[UnitId(str(place.parent), place.name)] = entry.distribution, entry.version
        self._gone = (self._gone | self._found.keys()) - found.keys()
        self._found = found
        return tuple(found)

    def load(self, unit: UnitId) -> LoadedUnit | None:
        """Load a unit; one of the environment gets the name and version of its distribution."""
        if unit in self._gone:
            return None  # its files may still stand there
        known = self._found.get(unit)
        loaded = self._load_unit(unit)
        if known is None or loaded is None:
            return loaded
        try:
            name = str(parse_pack_name(known[0]))
        except InvalidInput:
            name = loaded.pack
        skills = tuple(replace(one, pack=name, version=known[1], source=SOURCE_PLUGIN) for one in loaded.skills)
        return replace(
            loaded,
            pack=name,
            version=known[1],
            skills=skills,
            dropped=tuple(_explain(loaded.dropped, name)),
            source=SOURCE_PLUGIN,
        )


def _find_package(package: str) -> Path | None:
    """Return the directory of a package without importing it; None where it has none, or can't be found."""
    try:
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
    except Exception:
        # The finder of somebody's editable install is somebody's code.
        _log.exception("looking for the package %r failed", package)
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) if places and Path(places[0]).is_dir() else None


def _explain(dropped: Iterable[Dropped], pack: str) -> Iterable[Dropped]:
    """Say of python skills why they don't run here."""
    for row in dropped:
        is_python = any(problem.rule == PYTHON_RULE for problem in row.problems)
        cause = f"the code is in Market's own environment; `market install {pack}` gives it a process of its own"
        yield replace(row, cause=cause) if is_python else row
