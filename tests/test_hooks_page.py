"""docs/hooks.md says what the code says: each hook with each argument, its silence and its crash, who uses it, and a sample that works."""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from market import hookspecs
from market.model import Kind, Outcome, OutcomeKind
from market.pack.source import MemorySource
from market.plugin_checks import Implementation, check_plugin, make_manager
from market.plugin_functions import HOOK_ARGUMENTS
from market.plugins import Plugins, load_plugins
from tests.plugged import ADA, a_call, a_pack, a_target, an_entry

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/hooks.md").read_text()
SECTIONS = {
    match[1]: match[0] for match in re.finditer(r"^### `(\w+)\(.*?(?=^### |\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
NOW = datetime(2026, 1, 3, 3, 4, 5, tzinfo=UTC)

VALUES: dict[str, Any] = {
    "environment": {},
    "pack": a_pack("acme-tool"),
    "source": MemorySource({"a.sh": b"#!/bin/sh\ncurl x | sh\n"}),
    "act": "publish",
    "publisher": "",
    "origin": "/x",
    "root": "/srv",
    "caller": ADA,
    "target": a_target(),
    "call": a_call(),
    "arguments": {},
    "owner": "",
    "action": "installed",
    "old_version": "",
    "at": NOW,
    "name": "acme-tool",
    "version": "1.0.0",
    "arguments_text": "{}",
    "outcome": Outcome(OutcomeKind.OK),
    "filename": "acme-tool.zip",
    "tree_digest": "sha256:1",
    "reason": "leaks",
    "undone": False,
}


def documented(hook: str) -> str:
    return inspect.cleandoc(getattr(hookspecs, hook).__doc__)


def test_the_page_has_the_hooks_of_the_code_in_their_order() -> None:
    assert list(SECTIONS) == list(HOOK_ARGUMENTS)


@pytest.mark.parametrize("hook", HOOK_ARGUMENTS)
def test_every_argument_is_described_with_the_same_words(hook: str) -> None:
    section, doc = SECTIONS[hook], documented(hook)
    assert section.startswith(f"### `{hook}({', '.join(HOOK_ARGUMENTS[hook])})`\n\n{doc.partition(chr(10) * 2)[0]}\n")
    described = re.findall(r"^:param (\w+): (.+)$", doc, re.MULTILINE)
    assert tuple(name for name, _ in described) == HOOK_ARGUMENTS[hook]
    assert re.findall(r"^- `(\w+)`: (.+)$", section, re.MULTILINE) == described
    assert re.findall(r"^- returns: (.+)$", section, re.MULTILINE) == re.findall(r"^:return: (.+)$", doc, re.MULTILINE)


@pytest.mark.parametrize("hook", HOOK_ARGUMENTS)
def test_silence_and_crash_are_described(hook: str) -> None:
    last = documented(hook).rpartition("\n\n")[2]
    assert last.startswith(("Silence: ", "What it returns is ignored. ")) and " A crash: " in last
    assert f"\n{last}\n" in SECTIONS[hook]


@pytest.mark.parametrize("hook", HOOK_ARGUMENTS)
def test_something_in_the_repository_uses_it(hook: str) -> None:
    (used,) = re.findall(r"^Used by (.+)\.$", SECTIONS[hook], re.MULTILINE)
    for name in re.findall(r"`([\w.-]+)`", used):
        module = import_module(f"{name.replace('-', '_')}.plugin" if name.startswith("market-") else name)
        marked = [vars(module), *(vars(one) for one in vars(module).values() if inspect.isclass(one))]
        assert any(hasattr(space.get(hook), "market_impl") for space in marked), name


@pytest.mark.parametrize("hook", HOOK_ARGUMENTS)
def test_the_typed_face_takes_the_same_arguments(hook: str) -> None:
    assert tuple(inspect.signature(getattr(Plugins, hook)).parameters)[1:] == HOOK_ARGUMENTS[hook]


def sample(hook: str) -> ModuleType:
    (code,) = re.findall(r"^```python\n(.*?)^```$", SECTIONS[hook], re.MULTILINE | re.DOTALL)
    module = ModuleType(f"sample_{hook}")
    exec(compile(code, f"docs/hooks.md:{hook}", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("hook", HOOK_ARGUMENTS)
def test_the_sample_is_a_plugin_and_can_be_called(hook: str) -> None:
    (one,) = check_plugin(make_manager(), "sample", sample(hook))
    assert isinstance(one, Implementation) and one.hook == hook
    one.call(VALUES)


def test_the_samples_do_what_they_say() -> None:
    entries = [an_entry(sample(hook), hook) for hook in HOOK_ARGUMENTS]
    plugins = load_plugins(entry_points=entries)
    (found,) = plugins.scan_pack(VALUES["pack"], VALUES["source"], "publish")
    assert (found.rule, found.file, found.line) == ("scan_pack:pipe-to-shell", "a.sh", 2)
    assert "nobody vouches for acme-tool" in plugins.decide_install(VALUES["pack"], "", "/x", "/srv", ADA).reason
    assert "are acme's" in plugins.decide_publish(VALUES["pack"], "rival", "").reason
    assert set(plugins.register_executors({})) == {Kind.COMMAND}
