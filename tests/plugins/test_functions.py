"""What a plugin's function may look like is decided at load: every shape that would never work is a sentence for its author."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

import pytest

from market.errors import PluginError
from market.plugins.loaded import load_plugins
from tests.plugged import ADA, a_pack, an_entry


def a_module(code: str) -> ModuleType:
    module = ModuleType("plugin")
    exec(f"import functools, pluggy\nfrom market.hookspecs import hookimpl\nfrom market.trust.decision import deny\n{code}\n", module.__dict__)
    return module


def decided(code: str) -> str:
    plugins = load_plugins(entry_points=[an_entry(a_module(code))])
    return plugins.decide_install(a_pack(), "acme", "http://index", "/srv", ADA).reason


@pytest.mark.parametrize(
    "code",
    [
        "@hookimpl\ndef decide_install(pack, origin): return deny(origin)",
        "@hookimpl\ndef decide_install(pack, origin='X'): return deny(origin)",
        "@hookimpl\ndef decide_install(*, origin): return deny(origin)",
        "@hookimpl\ndef decide_install(pack, *, origin='X'): return deny(origin)",
        "@hookimpl(specname='decide_install')\ndef no_strangers(origin): return deny(origin)",
        "def d(f):\n    @functools.wraps(f)\n    def w(*args, **kw): return f(*args, **kw)\n    return w\n@hookimpl\n@d\ndef decide_install(origin='X'): return deny(origin)",
        "from market.hookspecs import decide_run\n@hookimpl\ndef decide_install(origin): return deny(origin)",
        "decide_run = True\n@hookimpl\ndef decide_install(origin): return deny(origin)",
    ],
)
def test_an_argument_gets_its_value_whether_or_not_it_has_a_default(code: str) -> None:
    assert decided(code) == "tested: http://index"


KNOWN = "it has pack, publisher, origin, root, caller"
BESIDE = "@hookimpl\ndef decide_run(): return None\n"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("@hookimpl\ndef decide_install(publsher='x'): ...", f"decide_install has no argument publsher; did you mean publisher? {KNOWN}"),
        ("@hookimpl\ndef decide_install(colour): ...", f"decide_install has no argument colour; {KNOWN}"),
        ("@hookimpl\ndef register_fetchers(pack): ...", "register_fetchers has no argument pack; it has none"),
        ("@hookimpl\ndef decide_install(**kw): ...", f"decide_install takes **kw; arguments are given by name, those that are listed: {KNOWN}"),
        ("@hookimpl\ndef decide_install(*args): ...", "decide_install takes *args; "),
        ("@hookimpl\ndef decide_install(pack, /): ...", "decide_install takes pack by position only; "),
        ("def d(f):\n    @functools.wraps(f)\n    def w(*args): return f(*args)\n    return w\n@hookimpl\n@d\ndef decide_install(pack): ...",
         "decide_install can't be called with its arguments by name: "),
        ("@hookimpl\nasync def decide_install(pack): ...", "decide_install is asynchronous, and nobody would await it"),
        ("@hookimpl\nasync def scan_pack(pack):\n    yield 1", "scan_pack is asynchronous"),
        ("@hookimpl\ndef decide_install(pack):\n    yield deny('x')", "decide_install is a generator, of which nothing would run"),
        ("@hookimpl\ndef pack_removed(name):\n    yield 1", "pack_removed is a generator"),
        (BESIDE + "def decide_install(pack): ...", "its decide_install is no function marked with @hookimpl of market.hookspecs, so nobody would call it"),
        (BESIDE + "@pluggy.HookimplMarker('other')\ndef decide_install(pack): ...", "its decide_install is no function marked"),
        (BESIDE + "@hookimpl\n@functools.lru_cache\ndef decide_install(pack): ...", "its decide_install is no function marked"),
        (BESIDE + "decide_install = hookimpl(functools.partial(print, 1))", "its decide_install is no function marked"),
    ],
)  # fmt: skip
def test_every_other_shape_is_refused_with_what_is_wrong(code: str, why: str) -> None:
    with pytest.raises(PluginError) as caught:
        decided(code)
    assert caught.value.why.startswith(why)


def test_an_object_is_looked_at_as_a_module_is() -> None:
    with pytest.raises(PluginError, match="can't be used") as caught:
        load_plugins(entry_points=[an_entry(SimpleNamespace(**vars(a_module(BESIDE)), scan_pack=lambda pack: []))])
    assert caught.value.why.startswith("its scan_pack is no function marked")


def test_a_scan_may_yield_its_findings() -> None:
    plugins = load_plugins(entry_points=[an_entry(a_module(
        "from market.errors import Problem\n@hookimpl\ndef scan_pack(act):\n    yield Problem('x', 'error', act)\n    print('y')"))])  # fmt: skip
    (found,) = plugins.scan_pack(a_pack(), source=None, act="install")  # type: ignore[arg-type]
    assert (found.rule, found.text) == ("tested:x", "install")


def test_what_a_decorator_hides_is_seen_when_it_answers() -> None:
    assert "TypeError: it is asynchronous" in decided("async def later(): ...\n@hookimpl\ndef decide_install(): return later()")
