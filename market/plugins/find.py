"""Which plugins are installed beside Market, and what implementations are in one, held against the hooks.

`importlib.metadata` costs 20 to 60 ms, most of it its own import, and most machines have no plugin: so the entry-point files are
searched for the group's name first (about 1 ms), and the library is loaded only where one has it. Each distribution is read by
itself, since anybody may leave half of one behind. The plugin manager is only asked what is there; it is dropped afterwards.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from market import hookspecs
from market.hookspecs import GROUP
from market.plugins.answers import Crashed, broken, call_foreign
from market.plugins.functions import find_hooks
from market.plugins.prints import diverted_prints
from market.plugins.values import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_METADATA_SUFFIXES = (".dist-info", ".egg-info")
_POINTS_FILE = "entry_points.txt"


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """One entry point of the group: its name, the distribution that brings it, and how to load what it names (`target`).

    `place` is the directory in which the distribution describes itself, or the archive around it. `fault` says why the distribution
    can't be read; then the entry stands for all that it may have, under its directory's name, and loading it fails with the fault.
    """

    name: str
    distribution: str
    version: str
    load: Callable[[], object]
    target: str = ""
    place: str = ""
    fault: str = ""


def find_entries(group: str = GROUP) -> tuple[PluginEntry, ...]:
    """Return the entry points of a group in this environment, in the order of their names. Nothing of them is imported.

    Of a distribution that is installed twice, the first on the path counts.
    """
    # The closing bracket may be missing: that is one of the faults.
    section = re.compile(rb"^\s*\[\s*" + re.escape(group).encode() + rb"\s*(\]|$)", re.MULTILINE)
    seen: set[str] = set()
    found: list[PluginEntry] = []
    for path in sys.path:
        here = list(_look_into(path))
        found += (entry for folder in here if _key(folder.name) not in seen for entry in _read(folder, section, group))
        seen.update(_key(folder.name) for folder in here)
    return tuple(sorted(found, key=lambda entry: (entry.name, entry.distribution)))


@dataclass(frozen=True, slots=True)
class Implementation:
    """One function of one plugin that implements a hook. `own` marks those of Market itself."""

    plugin: str
    hook: str
    function: Callable[..., object]
    arguments: tuple[str, ...]
    own: bool = False

    def call(self, values: Mapping[str, object]) -> object:
        """Call it with those of the hook's arguments that it takes."""
        given = {name: values[name] for name in self.arguments}
        if self.own:
            return self.function(**given)
        with diverted_prints():
            answer = self.function(**given)
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("it is asynchronous, and nobody awaits it")
        return answer


def make_manager() -> pluggy.PluginManager:
    """Return a plugin manager that knows the hooks and no plugin."""
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    return manager


def load_entry(manager: pluggy.PluginManager, entry: PluginEntry) -> tuple[Implementation, ...]:
    """Import a plugin and return its implementations. Raises `PluginError` that names it."""
    try:
        with diverted_prints():
            plugin = call_foreign(entry.load)
    except Crashed as crash:
        raise broken(entry.name, f"loading it failed: {crash}", entry.distribution) from crash
    if inspect.isclass(plugin):
        raise broken(entry.name, f"its entry point names the class {plugin.__name__}", entry.distribution)
    return check_plugin(manager, entry.name, plugin, entry.distribution)


def check_plugin(
    manager: pluggy.PluginManager, name: str, plugin: object, distribution: str = "", *, own: bool = False
) -> tuple[Implementation, ...]:
    """Return the implementations in a module or an object; raises `PluginError` for what could never work as it stands."""
    try:
        found = call_foreign(lambda: list(find_hooks(manager, plugin)))
        call_foreign(lambda: manager.register(plugin, name))
        call_foreign(manager.check_pending)
    except (Crashed, Unfit) as error:
        raise broken(name, str(error), distribution) from error
    if not found:
        raise broken(name, "it implements no hook; mark its functions with @hookimpl", distribution)
    return tuple(Implementation(name, hook, function, arguments, own) for hook, function, arguments in found)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A directory on the path in which a distribution describes itself; an archive stands for all that it holds."""

    path: str
    name: str
    is_archive: bool = False


def _look_into(path: str) -> Iterator[_Folder]:
    try:
        with os.scandir(path or os.curdir) as entries:
            found = [_Folder(entry.path, entry.name) for entry in entries if entry.name.endswith(_METADATA_SUFFIXES)]
    except NotADirectoryError:
        found = [_Folder(path, path, is_archive=True)]
    except OSError:
        return
    yield from sorted(found, key=lambda folder: folder.name)


def _read(folder: _Folder, section: re.Pattern[bytes], group: str) -> Iterator[PluginEntry]:
    if folder.is_archive:
        # Only the library can look into it.
        for one in _library().distributions(path=[folder.path]):
            yield from _read_distribution(one, folder, group, must_have=False)
    elif _declares_group(Path(folder.path, _POINTS_FILE), section):
        yield from _read_distribution(_library().Distribution.at(folder.path), folder, group, must_have=True)


def _read_distribution(one: Any, folder: _Folder, group: str, *, must_have: bool) -> tuple[PluginEntry, ...]:
    """Return a distribution's entries of a group; `must_have`: it names the group, so that none is a fault."""
    try:
        points = [point for point in one.entry_points if point.group == group]
        name, version = (one.metadata.get(field) for field in ("Name", "Version")) if points else ("", "")
    except Exception as error:
        # The library raises what its parsers raise, and one broken distribution must not hide the others.
        return (_broken(folder, f"its {_POINTS_FILE} or METADATA can't be read ({type(error).__name__}: {error})"),)
    if must_have and not points:
        return (_broken(folder, f"its {_POINTS_FILE} names the group {group}, and no entry of it can be read"),)
    if points and not (name and version):
        return (_broken(folder, "its METADATA is missing, or gives no name and version"),)
    return tuple(PluginEntry(point.name, name, version, point.load, point.value, folder.path) for point in points)


def _broken(folder: _Folder, why: str) -> PluginEntry:
    def fail() -> object:
        raise ValueError(f"{folder.path}: {why}")

    name, _, version = re.sub(r"\.(dist|egg)-info$", "", Path(folder.name).name).partition("-")
    return PluginEntry(name, name, version, fail, place=folder.path, fault=why)


def _key(folder_name: str) -> str:
    """Return the name that all spellings of a distribution share, from that of its directory."""
    return re.sub(r"[-_.]+", "-", folder_name.partition("-")[0].lower())


def _library() -> Any:
    # By name, since only a machine with plugins shall pay for it.
    return importlib.import_module("importlib.metadata")


def _declares_group(file: Path, section: re.Pattern[bytes]) -> bool:
    try:
        return section.search(file.read_bytes()) is not None
    except OSError:
        return False
