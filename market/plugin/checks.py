"""From an entry point to the implementations in it: load it, hold it against the hookspecs, and say exactly what is wrong.

What a function may look like is `market.plugin.functions`. The plugin manager is only asked what is there; it is dropped afterwards,
and calls are made by `market.plugin.calls`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pluggy

from market import hookspecs
from market.plugin.edge import Crashed, broken, call_foreign
from market.plugin.functions import find_hooks
from market.plugin.prints import diverted_prints
from market.plugin.values import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.plugin.discovery import PluginEntry


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
        call_foreign(manager.register, plugin, name)
        call_foreign(manager.check_pending)
    except (Crashed, Unfit) as error:
        raise broken(name, str(error), distribution) from error
    if not found:
        raise broken(name, "it implements no hook; mark its functions with @hookimpl", distribution)
    return tuple(Implementation(name, hook, function, arguments, own) for hook, function, arguments in found)
