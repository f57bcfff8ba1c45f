"""What a function of a plugin may look like: which hook it is, which of its arguments it takes, and every shape that would never work.

Everything is decided when the plugin is loaded. A policy that is silently absent, or that sees a default in place of what happens, would
be worse than a stop. What a worker loads has rules of its own, `market.run.worker_shape`: it may import neither Market nor `inspect`.
"""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from market import hookspecs
from market.plugins.values import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    import pluggy

HOOK_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    name: tuple(inspect.signature(function).parameters)
    for name, function in vars(hookspecs).items()
    if hasattr(function, f"{hookspecs.GROUP}_spec")
}
YIELDING = frozenset({"scan_pack"})
"""Hooks whose answer is gone through, so that a generator's code runs."""

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def find_hooks(
    manager: pluggy.PluginManager, plugin: object
) -> Iterator[tuple[str, Callable[..., object], tuple[str, ...]]]:
    """Yield hook, function and arguments of each implementation in a module or an object. Raises `Unfit`."""
    names = dir(plugin)
    marked = {name: options for name in names if (options := manager.parse_hookimpl_opts(plugin, name)) is not None}
    for name, options in marked.items():
        hook, function = options.get("specname") or name, getattr(plugin, name)
        _check_hook(hook)
        if options.get("wrapper") or options.get("hookwrapper"):
            raise Unfit(f"{hook} is a wrapper: a plugin can't change what the others answer")
        yield hook, function, read_arguments(hook, function)
    for hook in HOOK_ARGUMENTS:
        if hook in names and hook not in marked:
            _check_unmarked(hook, getattr(plugin, hook))


def read_arguments(hook: str, function: Callable[..., object]) -> tuple[str, ...]:
    """Return the arguments of the hook that a function takes, with a default or without one. Raises `Unfit`.

    >>> read_arguments("pack_removed", lambda name, root="/": None)
    ('name', 'root')
    """
    check_runs(hook, function, may_yield=hook in YIELDING)
    parameters = _signature(hook, function, follow_wrapped=True).parameters.values()
    for parameter in parameters:
        _check_parameter(hook, parameter)
    names = tuple(parameter.name for parameter in parameters)
    try:  # a decorator may say that it takes what it decorates, and not pass it on by name
        _signature(hook, function, follow_wrapped=False).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise Unfit(f"{hook} can't be called with its arguments by name: {error}; look at its decorator") from None
    return names


def check_runs(what: str, function: Callable[..., object], *, may_yield: bool = False) -> None:
    """Raise `Unfit` for a function of which a call runs nothing."""
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise Unfit(f"{what} is asynchronous, and nobody would await it: write def in place of async def")
    if inspect.isgeneratorfunction(function) and not may_yield:
        raise Unfit(f"{what} is a generator, of which nothing would run: return in place of yield")


def has_argument(function: Callable[..., object], name: str) -> bool:
    """Whether a function takes an argument of this name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def check_method(holder: object, method: str, arguments: Collection[str], later: str = "") -> None:
    """Raise `Unfit` unless an object has a method that can be called with these arguments by position.

    `later` is one that is given by its name, to a method that has it.
    """
    function = getattr(holder, method, None)
    what = f"{type(holder).__name__}.{method}"
    if not callable(function):
        raise Unfit(f"{type(holder).__name__}, which has no method {method}({', '.join(arguments)})")
    check_runs(what, function)
    try:
        named = {later: None} if later and has_argument(function, later) else {}
        _signature(what, function, follow_wrapped=True).bind(*arguments, **named)
    except TypeError as error:
        raise Unfit(f"{what} is called with {', '.join(arguments)}, by position: {error}") from None


def _check_hook(hook: str) -> None:
    if hook not in HOOK_ARGUMENTS:
        near = difflib.get_close_matches(hook, HOOK_ARGUMENTS, n=1)
        known = f"; did you mean {near[0]}?" if near else f": there are {', '.join(HOOK_ARGUMENTS)}"
        raise Unfit(f"there is no hook {hook}{known}")


def _check_unmarked(hook: str, found: object) -> None:
    """Refuse what looks like a hook and isn't called. A specification that was imported is none of the plugin's."""
    if callable(found) and found is not getattr(hookspecs, hook):
        raise Unfit(
            f"its {hook} is no function marked with @hookimpl of market.hookspecs, so nobody would call it: "
            "mark it, or name it otherwise"
        )


def _check_parameter(hook: str, parameter: inspect.Parameter) -> None:
    known = HOOK_ARGUMENTS[hook]
    there_are = f"it has {', '.join(known)}" if known else "it has none"
    if parameter.kind not in _BY_NAME:
        by_position = parameter.kind is inspect.Parameter.POSITIONAL_ONLY
        shown = f"{parameter.name} by position only" if by_position else str(parameter)
        raise Unfit(f"{hook} takes {shown}; arguments are given by name, those that are listed: {there_are}")
    if parameter.name not in known:
        near = difflib.get_close_matches(parameter.name, known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ";"
        raise Unfit(f"{hook} has no argument {parameter.name}{meant} {there_are}")


def _signature(what: str, function: Callable[..., Any], *, follow_wrapped: bool) -> inspect.Signature:
    try:
        return inspect.signature(function, follow_wrapped=follow_wrapped)
    except (TypeError, ValueError):
        raise Unfit(f"{what}: which arguments it takes can't be seen; write it as a Python function") from None
