"""Plugin packs that were installed into this process's own environment, by pip for example: found by their entry points.

Nobody has recorded their files, so they are unmanaged. Their content loads; their python skills don't, since they would run
among the host's own modules. Nothing of them is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import InvalidInput
from market.names import parse_pack_name
from market.pack.entry_points import GROUP
from market.plugins.find import find_entries
from market.registry.findings import distribution_broken
from market.registry.live import SOURCE_PLUGIN
from market.registry.tree_marks import scan_tree
from market.registry.unit import Dropped, LoadedUnit, UnitId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from market.plugins.find import PluginEntry

PYTHON_RULE = "entry-python"
MAX_SHOWN_CHARACTERS = 80

_log = logging.getLogger("market.registry")


class EnvironmentPacks:
    """Finds plugin packs in the environment and loads them; other units are left to `load_unit`."""

    def __init__(self, load_unit: Callable[[UnitId], LoadedUnit | None]) -> None:
        self._load_unit = load_unit
        self._found: dict[UnitId, _Known] = {}
        self._gone: frozenset[UnitId] = frozenset()

    def find(self) -> tuple[UnitId, ...]:
        """Return the packages of all plugin packs that are installed now; one that leads nowhere, by what describes it."""
        importlib.invalidate_caches()
        found: dict[UnitId, _Known] = {}
        for entry in find_entries(GROUP):
            place, fault = _find_place(entry)
            unit = UnitId(str(place.parent), place.name)
            known = found.get(unit)
            faults = (*(known.faults if known else ()), *((fault,) if fault else ()))
            found[unit] = _Known(entry.distribution, entry.version, faults)
        self._gone = (self._gone | self._found.keys()) - found.keys()
        self._found = found
        return tuple(found)

    def load(self, unit: UnitId) -> LoadedUnit | None:
        """Load a unit; one of the environment gets the name and version of its distribution."""
        if unit in self._gone:
            return None  # its files may still stand there
        known = self._found.get(unit)
        if known is None:
            return self._load_unit(unit)
        loaded = _tell_faults(unit, known) if known.faults else self._load_unit(unit)
        if loaded is None:
            return None
        try:
            name = str(parse_pack_name(known.distribution))
        except InvalidInput:
            name = loaded.pack
        skills = tuple(replace(one, pack=name, version=known.version, source=SOURCE_PLUGIN) for one in loaded.skills)
        return replace(
            loaded,
            pack=name,
            version=known.version,
            skills=skills,
            dropped=tuple(_explain(loaded.dropped, name)),
            source=SOURCE_PLUGIN,
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a unit: its distribution, and for a directory that describes one, why it leads to no pack."""

    distribution: str
    version: str
    faults: tuple[str, ...] = ()


def _find_place(entry: PluginEntry) -> tuple[Path, str]:
    """Return the directory of an entry's package; where it leads to none, that in which its distribution describes itself, and why."""
    package = entry.target.partition(":")[0].partition(".")[0].strip()
    said = f"the entry point {entry.name} = {entry.target[:MAX_SHOWN_CHARACTERS]!r}"
    if entry.fault:
        fault = entry.fault
    elif not package.isidentifier():
        fault = f"{said} names no module"
    elif place := _find_package(package):
        return place, ""
    else:
        fault = f"{said} names the package {package!r}, which isn't a directory that can be found"
    return Path(entry.place).absolute(), fault


def _tell_faults(unit: UnitId, known: _Known) -> LoadedUnit:
    """Return a distribution that leads to no pack as a unit of which nothing loads."""
    rows = tuple(Dropped(unit.path, "", why, (distribution_broken(known.distribution, why),)) for why in known.faults)
    return LoadedUnit(unit, 0, 0, unit.name, known.version, "", scan_tree(unit.path).signature, dropped=rows)


def _find_package(package: str) -> Path | None:
    """Return the directory of a package without importing it; None where it has none, or can't be found."""
    try:
        spec = importlib.util.find_spec(package)
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
