"""What a function of a wheel pack may look like, and how it is called: a skill's function, and the pack's hooks.

The standard library only, and nothing of Market: `worker_serve.py` loads this file by its place. What would fail or be missed at each
call is found when the code is loaded, and said in a sentence for the pack's author. The hooks of Market's own plugins have rules apart,
`market.plugins.functions`: those rest on `inspect`, which would slow the start of each worker.
"""

from __future__ import annotations

import importlib
from types import FunctionType

TYPE_CHECKING = False  # `typing` itself would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

HOOKS = {"market_skills": (), "market_execute": ("key", "params", "context")}
ARGUMENTS = HOOKS["market_execute"]
YIELDING = ("market_skills",)  # what is gone through, so that a generator's code runs
MAX_SHOWN_CHARACTERS = 80

# The flags of code objects; `inspect` has their names, and is slow to load.
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200
_BY_POSITION, _BY_NAME, _REST = "by position only", "by name only", "rest"


class Unfit(Exception):
    """The pack's code isn't as its hooks or its files say; the text names what is wrong."""


class Unrunnable(Unfit):
    """A call would run nothing of it."""


class Parameter:
    """One parameter of a function: how it can be given (empty: both ways), and whether it must be."""

    def __init__(self, name: str, how: str, *, needed: bool) -> None:
        self.name = name
        self.how = how
        self.needed = needed


class Offered:
    """One function of the pack, and how it is called."""

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...] | None) -> None:
        self.function = function
        self.names = names  # None: the arguments are its only parameter

    def call(self, key: str, params: object, context: object) -> object:
        """Call it with those of key, params and context that it has parameters for."""
        if self.names is None:
            return self.function(params)
        given = {"key": key, "params": params, "context": context}
        return self.function(**{name: given[name] for name in self.names})


def read_function(what: str, function: Callable[..., Any]) -> Offered:
    """Return how a skill's function is called; raises `Unfit`."""
    _check_runs(what, function, "a skill's function")
    found = list(_parameters(function))
    taken = [one for one in found if one.how != _REST and (one.needed or one.name in ARGUMENTS)]
    names = tuple(one.name for one in taken)
    any_of = f"a skill's function takes any of {', '.join(ARGUMENTS)}"
    if not names and (rest := [one.name for one in found if one.how == _REST]):
        raise Unfit(f"{what} takes {', '.join(rest)}, and would be given nothing; {any_of}, by these names")
    by_name = set(names) <= set(ARGUMENTS)
    if not by_name and len(names) != 1:
        raise Unfit(f"{what} takes {', '.join(names)}; {any_of}")
    wrong = _BY_POSITION if by_name else _BY_NAME
    if bad := [one.name for one in taken if one.how == wrong]:
        given = "by name" if by_name else f"by position, since it isn't one of {', '.join(ARGUMENTS)}"
        raise Unfit(f"{what} takes {', '.join(bad)} {wrong}; it is given {given}")
    return Offered(function, names if by_name else None)


def read_hook(hook: str, function: Callable[..., Any]) -> Offered:
    """Return how an implementation of a hook is called: by name, with a default or without one. Raises `Unfit`."""
    if hook not in HOOKS:
        raise Unfit(f"there is no hook {hook}; there are {' and '.join(HOOKS)}")
    if hook not in YIELDING:
        _check_runs(hook, function, "a hook")
    known = HOOKS[hook]
    there_are = f"it has {', '.join(known)}" if known else "it has none"
    for one in _parameters(function):
        if one.how in (_BY_POSITION, _REST):
            shown = one.name if one.how == _REST else f"{one.name} {one.how}"
            raise Unfit(f"{hook} takes {shown}; arguments are given by name, those that are listed: {there_are}")
        if one.name not in known:
            near = importlib.import_module("difflib").get_close_matches(one.name, known, n=1)
            meant = f"; did you mean {near[0]}?" if near else ";"
            raise Unfit(f"{hook} has no argument {one.name}{meant} {there_are}")
    return Offered(function, tuple(one.name for one in _parameters(function)))


def find_hooks(manager: Any, plugin: object) -> Iterable[tuple[str, Offered]]:
    """Yield the marked functions of a plugin with their hooks; raises `Unfit`. `manager` is pluggy's."""
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            hook = options.get("specname") or name
            if options.get("wrapper") or options.get("hookwrapper"):
                raise Unfit(f"{hook} is a wrapper, and nobody would call it: return the answer of a plain function")
            yield hook, read_hook(hook, getattr(plugin, name))


def check_folders(answer: object) -> Sequence[object]:
    """Return what market_skills() answered as a list of paths; raises `Unfit`."""
    if answer is None:
        return ()
    if isinstance(answer, (str, bytes, dict)) or not hasattr(type(answer), "__iter__"):
        shown = repr(answer)[:MAX_SHOWN_CHARACTERS]
        raise Unfit(f"market_skills() returned {shown}; it returns a list of folders")
    found: Any = answer
    folders = list(found)
    for folder in folders:
        if not isinstance(folder, str) and not hasattr(type(folder), "__fspath__"):
            raise Unfit(f"market_skills() names {repr(folder)[:MAX_SHOWN_CHARACTERS]}, which is no path")
    return folders


def _check_runs(what: str, function: Callable[..., Any], kind: str) -> None:
    """Refuse a function of which a call runs nothing."""
    flags = _code_flags(function)
    if flags & (_COROUTINE | _ASYNC_GENERATOR):
        raise Unrunnable(f"{what} is asynchronous; {kind} returns its result: write def in place of async def")
    if flags & _GENERATOR:
        raise Unrunnable(f"{what} is a generator; {kind} returns its result: return in place of yield")


def _code_flags(function: Any) -> int:
    """Return the flags of the code that a call would run, as far as it is Python's."""
    for _ in range(8):
        if code := getattr(function, "__code__", None):
            return int(code.co_flags)
        # A partial, or an object that can be called: what is behind it.
        function = getattr(function, "func", None) or vars(type(function)).get("__call__")
    return 0


def _parameters(function: Callable[..., Any]) -> Iterable[Parameter]:
    if not isinstance(function, FunctionType) or hasattr(function, "__wrapped__"):
        yield from _inspected(function)
        return
    code = function.__code__
    names, count, optional = code.co_varnames, code.co_argcount, len(function.__defaults__ or ())
    for place, name in enumerate(names[:count]):
        how = _BY_POSITION if place < code.co_posonlyargcount else ""
        yield Parameter(name, how, needed=place < count - optional)
    end = count + code.co_kwonlyargcount
    for name in names[count:end]:
        yield Parameter(name, _BY_NAME, needed=name not in (function.__kwdefaults__ or {}))
    rest = [star for star, flag in (("*", _VARARGS), ("**", _VARKEYWORDS)) if code.co_flags & flag]
    for star, name in zip(rest, names[end:], strict=False):
        yield Parameter(star + name, _REST, needed=False)


def _inspected(function: Callable[..., Any]) -> Iterable[Parameter]:
    inspect = importlib.import_module("inspect")  # rarely needed, and slow to load
    ways = {"POSITIONAL_ONLY": _BY_POSITION, "POSITIONAL_OR_KEYWORD": "", "KEYWORD_ONLY": _BY_NAME}
    for one in inspect.signature(function).parameters.values():
        how = ways.get(one.kind.name, _REST)
        yield Parameter(str(one) if how == _REST else one.name, how, needed=one.default is one.empty and how != _REST)
