"""From an entry point to the implementations in it: load it, hold it against the hookspecs, and say exactly what is wrong.

The plugin manager is only asked what is there; it is dropped afterwards, and calls are made by `market.plugins`.
"""

from __future__ import annotations

import difflib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pluggy

from market import hookspecs
from market.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.discovery import PluginEntry

HOOK_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(inspect.signature(function).parameters)
    for name, function in vars(hookspecs).items()
    if hasattr(function, f"{hookspecs.GROUP}_spec")
}


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
        return self.function(**{name: values[name] for name in self.arguments})


def make_manager() -> pluggy.PluginManager:
    """Return a plugin manager that knows the hooks and no plugin."""
    manager = pluggy.PluginManager(hookspecs.GROUP)
    manager.add_hookspecs(hookspecs)
    return manager


def load_entry(manager: pluggy.PluginManager, entry: PluginEntry) -> tuple[Implementation, ...]:
    """Import a plugin and return its implementations. Raises `PluginError` that names it."""
    try:
        plugin = entry.load()
    except (Exception, SystemExit) as error:
        raise broken(entry.name, f"loading it failed: {describe(error)}", entry.distribution) from error
    if inspect.isclass(plugin):
        raise broken(entry.name, f"its entry point names the class {plugin.__name__}", entry.distribution)
    return check_plugin(manager, entry.name, plugin, entry.distribution)


def check_plugin(
    manager: pluggy.PluginManager, name: str, plugin: object, distribution: str = "", *, own: bool = False
) -> tuple[Implementation, ...]:
    """Return the implementations in a module or an object; raises `PluginError` for a hook or an argument that doesn't exist."""
    try:
        manager.register(plugin, name)
        _check_names(manager, plugin)
        manager.check_pending()
    except (Exception, SystemExit) as error:
        raise broken(name, _explain(error), distribution) from error
    found = [
        (hook, implementation)
        for hook in HOOK_ARGUMENTS
        for implementation in getattr(manager.hook, hook).get_hookimpls()
        if implementation.plugin is plugin
    ]
    if not found:
        raise broken(name, "it implements no hook; mark its functions with @hookimpl", distribution)
    for hook, implementation in found:
        if implementation.wrapper or implementation.hookwrapper:
            why = f"{hook} is a wrapper: a plugin can't change what the others answer"
            raise broken(name, why, distribution)
    return tuple(Implementation(name, hook, one.function, tuple(one.argnames), own) for hook, one in found)


def describe(error: BaseException) -> str:
    """Return an error of foreign code in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def broken(name: str, why: str, distribution: str = "") -> PluginError:
    """Return the error for a plugin that can't be used."""
    whence = f" of {distribution}" if distribution and distribution != name else ""
    return PluginError(
        f"the plugin {name}{whence} can't be used",
        why=why,
        hint=f"upgrade or uninstall it, or switch it off: market plugins disable {name}",
        details={"plugin": name, "distribution": distribution},
    )


class _Misspelt(Exception):
    """A hook that doesn't exist, with what was probably meant."""


def _check_names(manager: pluggy.PluginManager, plugin: object) -> None:
    """Say which hook was meant where one doesn't exist; pluggy's own check only says that it doesn't."""
    for caller in manager.get_hookcallers(plugin) or ():
        if caller.name in HOOK_ARGUMENTS:
            continue
        near = difflib.get_close_matches(caller.name, HOOK_ARGUMENTS, n=1)
        raise _Misspelt(
            f"there is no hook {caller.name}"
            + (f"; did you mean {near[0]}?" if near else f": there are {', '.join(HOOK_ARGUMENTS)}")
        )


def _explain(error: Any) -> str:
    if isinstance(error, _Misspelt):
        return str(error)
    if isinstance(error, pluggy.PluginValidationError):
        return _explain_arguments(str(error)) or " ".join(str(error).split())
    return describe(error)


def _explain_arguments(text: str) -> str:
    """Put pluggy's sentence on an unknown argument into ours, with the arguments that there are."""
    for hook, arguments in HOOK_ARGUMENTS.items():
        if f"hook {hook!r}" in text and "Argument(s)" in text:
            wrong = text.partition("Argument(s) ")[2].partition(" are declared")[0].strip("{}").replace("'", "")
            return f"{hook} has no argument {wrong}; it has {', '.join(arguments)}"
    return ""
