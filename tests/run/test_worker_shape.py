"""What a function of a wheel pack may look like: each shape that would fail at every call, or be missed, is said when it is loaded."""

from __future__ import annotations

import functools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest

from market.plugins.functions import read_arguments
from market.plugins.values import Unfit as PluginUnfit
from market.run.worker_shape import Unfit, check_folders, find_hooks, read_function, read_hook

GIVEN = ("k", {"a": 1}, "c")


def made(code: str) -> Any:
    space: dict[str, Any] = {"functools": functools}
    exec(code, space)
    return space["f"]


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("def f(): return 1", 1),
        ("def f(params): return params", {"a": 1}),
        ("def f(params=None): return params", {"a": 1}),
        ("def f(*, context): return context", "c"),
        ("def f(given): return given", {"a": 1}),
        ("def f(given, /): return given", {"a": 1}),
        ("def f(params, extra=3): return extra", 3),
        ("def f(params, *rest, **more): return [rest, more]", [(), {}]),
        ("@functools.lru_cache\ndef f(key): return key", "k"),
        ("f = functools.partial(lambda x, params: x, 7)", 7),
        ("class F:\n    def __call__(self, key): return key\nf = F()", "k"),
        ("class F:\n    def go(self, key): return key\nf = F().go", "k"),
    ],
)
def test_a_skills_function_is_called_with_what_it_takes(code: str, result: object) -> None:
    assert read_function("f", made(code)).call(*GIVEN) == result


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("async def f(params): ...", "f is asynchronous; a skill's function returns its result"),
        ("async def f(params):\n    yield 1", "f is asynchronous"),
        ("def f(params):\n    yield 1", "f is a generator; a skill's function returns its result"),
        ("class F:\n    async def __call__(self, params): ...\nf = F()", "f is asynchronous"),
        ("class F:\n    async def go(self, params): ...\nf = F().go", "f is asynchronous"),
        ("async def g(x, params): ...\nf = functools.partial(g, 1)", "f is asynchronous"),
        ("def f(params, /): ...", "f takes params by position only; it is given by name"),
        ("def f(key, params, /): ...", "f takes key, params by position only"),
        ("def f(*, arguments): ...", "f takes arguments by name only; it is given by position, since it isn't one of key, params, context"),
        ("def f(first, second): ...", "f takes first, second; a skill's function takes any of key, params, context"),
        ("def f(*args): ...", "f takes *args, and would be given nothing"),
        ("def f(*args, **kw): ...", "f takes *args, **kw, and would be given nothing"),
        ("class F:\n    def __call__(self, **kw): ...\nf = F()", "f takes **kw, and would be given nothing"),
    ],
)
def test_a_function_that_could_not_work_is_named(code: str, why: str) -> None:
    with pytest.raises(Unfit) as caught:
        read_function("f", made(code))
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize(
    ("hook", "code", "why"),
    [
        ("market_execute", "def f(key, parms): ...", "market_execute has no argument parms; did you mean params? it has key, params, context"),
        ("market_execute", "def f(key, colour=1): ...", "market_execute has no argument colour; it has key, params, context"),
        ("market_execute", "def f(**kw): ...", "market_execute takes **kw; arguments are given by name"),
        ("market_execute", "def f(*args): ...", "market_execute takes *args; "),
        ("market_execute", "def f(key, /): ...", "market_execute takes key by position only; "),
        ("market_execute", "async def f(key): ...", "market_execute is asynchronous; a hook returns its result"),
        ("market_execute", "def f(key):\n    yield 1", "market_execute is a generator"),
        ("market_skills", "def f(folder): ...", "market_skills has no argument folder; it has none"),
        ("market_skill", "def f(): ...", "there is no hook market_skill; there are market_skills and market_execute"),
    ],
)
def test_a_hook_takes_its_arguments_by_name(hook: str, code: str, why: str) -> None:
    with pytest.raises(Unfit) as caught:
        read_hook(hook, made(code))
    assert str(caught.value).startswith(why)


def test_a_hooks_argument_gets_its_value_whether_or_not_it_has_a_default() -> None:
    assert read_hook("market_execute", made("def f(key, params='x'): return params")).call(*GIVEN) == {"a": 1}
    assert read_hook("market_execute", made("def f(*, params='x'): return params")).call(*GIVEN) == {"a": 1}


def test_marked_functions_are_found_and_wrappers_refused() -> None:
    mark, manager = pluggy.HookimplMarker("market"), pluggy.PluginManager("market")

    def market_execute(key: str) -> str:
        return key

    def wraps() -> Any:
        yield

    plugin = SimpleNamespace(a=mark(specname="market_execute")(market_execute), b=market_execute.__doc__)
    ((hook, offered),) = find_hooks(manager, plugin)
    assert (hook, offered.call(*GIVEN)) == ("market_execute", "k")
    with pytest.raises(Unfit, match="market_skills is a wrapper"):
        list(find_hooks(manager, SimpleNamespace(market_skills=mark(wrapper=True)(wraps))))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("greet", "market_skills() returned 'greet'; it returns a list of folders"),
        (b"greet", "market_skills() returned b'greet'"),
        ({"greet": 1}, "market_skills() returned {'greet': 1}"),
        (7, "market_skills() returned 7"),
        (["greet", 7], "market_skills() names 7, which is no path"),
    ],
)
def test_folders_are_a_list_of_paths(answer: object, why: str) -> None:
    with pytest.raises(Unfit) as caught:
        check_folders(answer)
    assert str(caught.value).startswith(why)


def test_nothing_is_no_folder_and_any_kind_of_list_will_do() -> None:
    assert list(check_folders(None)) == []
    assert list(check_folders(one for one in ("a", Path("b")))) == ["a", Path("b")]


@pytest.mark.parametrize(
    ("code", "is_good"),
    [
        ("def hook(ARG): ...", True),
        ("def hook(*, ARG=None): ...", True),
        ("def hook(): ...", True),
        ("async def hook(ARG): ...", False),
        ("async def hook(ARG):\n    yield", False),
        ("def hook(ARG):\n    yield", False),
        ("def hook(ARGG): ...", False),
        ("def hook(ARG, /): ...", False),
        ("def hook(*ARG): ...", False),
        ("def hook(**ARG): ...", False),
    ],
)
def test_the_hooks_of_a_wheel_pack_have_the_shapes_of_those_of_a_plugin(code: str, is_good: bool) -> None:
    refused = []
    for read, hook, argument, error in ((read_hook, "market_execute", "key", Unfit), (read_arguments, "pack_removed", "name", PluginUnfit)):
        space: dict[str, Any] = {}
        exec(code.replace("ARG", argument), space)
        try:
            read(hook, space["hook"])
        except error:
            refused.append(hook)
    assert refused == ([] if is_good else ["market_execute", "pack_removed"])
