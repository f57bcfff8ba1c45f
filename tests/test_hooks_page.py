"""docs/hooks.md says what the code says: each hook with each argument and word, its silence and its crash, who uses it, a sample that works; and the protocols."""

from __future__ import annotations

import inspect
import io
import re
from collections import Counter
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from market import hookspecs
from market.cancellation import NEVER, Cancellation, Cancelled
from market.errors import MarketError, NotFound, Severity
from market.installer.plan import Action
from market.model import Command, Kind, Outcome, OutcomeKind, SkillClass
from market.pack.source import MemorySource
from market.plugins.find import Implementation, check_plugin, make_manager
from market.plugins.functions import HOOK_ARGUMENTS
from market.plugins.loaded import Plugins, load_plugins
from market.plugins.offers import EXECUTORS, FETCHERS
from tests.plugged import ADA, a_call, a_pack, a_skill, a_target, an_entry

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/hooks.md").read_text()
SECTIONS = {
    match[1]: match[0] for match in re.finditer(r"^### `(\w+)\(.*?(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
}
PROTOCOLS = [name for name, value in vars(hookspecs).items() if getattr(value, "_is_protocol", False) and value.__module__ == hookspecs.__name__]
KNOWN_WORDS: dict[tuple[str, str], set[str]] = {
    ("register_executors", "returns"): {str(kind) for kind in Kind} - {"guide"},
    ("scan_pack", "act"): {hookspecs.ACT_PUBLISH, hookspecs.ACT_INSTALL},
    ("scan_pack", "returns"): {str(severity) for severity in Severity},
    ("pack_installed", "action"): {str(action) for action in Action} - {"removed", "unchanged"},
    ("skill_ran", "outcome"): {str(kind) for kind in OutcomeKind},
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


@pytest.mark.parametrize("place", KNOWN_WORDS)
def test_the_page_has_exactly_the_words_that_the_code_has(place: tuple[str, str]) -> None:
    hook, name = place
    (line,) = re.findall(rf"^- `?{name}`?: (.+)$", SECTIONS[hook], re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", line)) == KNOWN_WORDS[place]


def part(heading: str) -> str:
    (found,) = re.findall(rf"^{re.escape(heading)}\n\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_the_page_has_the_protocols_of_the_code_in_their_order() -> None:
    assert re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE) == PROTOCOLS == ["Target", "Executor", "Fetcher"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_attribute_is_described_with_the_same_words(name: str) -> None:
    protocol, described = getattr(hookspecs, name), part(f"### `{name}`")
    assert described.startswith(f"{inspect.cleandoc(protocol.__doc__)}\n")
    attributes = [(key, value.fget.__doc__) for key, value in vars(protocol).items() if isinstance(value, property)]
    assert re.findall(r"^- `(\w+)`: (.+)$", described, re.MULTILINE) == attributes


@pytest.mark.parametrize(("name", "arguments"), [("Executor.execute", (*EXECUTORS.arguments, EXECUTORS.later)), ("Fetcher.fetch", FETCHERS.arguments)])
def test_every_method_is_described_with_the_same_words(name: str, arguments: tuple[str, ...]) -> None:
    protocol, _, method = name.partition(".")
    assert [key for key, value in vars(getattr(hookspecs, protocol)).items() if inspect.isfunction(value) and key[0] != "_"] == [method]
    function = getattr(getattr(hookspecs, protocol), method)
    assert tuple(inspect.signature(function).parameters)[1:] == arguments
    section, doc = part(f"#### `{method}({', '.join(arguments)})`"), inspect.cleandoc(function.__doc__)
    assert section.startswith(doc.partition("\n\n")[0] + "\n")
    described = re.findall(r"^:param (\w+): (.+)$", doc, re.MULTILINE)
    assert tuple(argument for argument, _ in described) == arguments
    assert re.findall(r"^- `(\w+)`: (.+)$", section, re.MULTILINE) == described
    assert re.findall(r"^- returns: (.+)$", section, re.MULTILINE) == re.findall(r"^:return: (.+)$", doc, re.MULTILINE)
    raised = re.findall(r"^:raises ([\w.]+): (.+)$", doc, re.MULTILINE)
    assert raised and re.findall(r"^- raises `([\w.]+)`: (.+)$", section, re.MULTILINE) == raised
    for place, _ in raised:
        module, _, error = place.rpartition(".")
        assert issubclass(getattr(import_module(module), error), (MarketError, Cancelled))


def test_a_live_skill_has_what_the_page_promises() -> None:
    assert all(hasattr(a_target(), key) for key, value in vars(hookspecs.Target).items() if isinstance(value, property))


def loaded(hook: str, **changes: Any) -> Plugins:
    """The sample of a hook as a plugin; `changes` are names in its module."""
    module = sample(hook)
    vars(module).update(changes)
    return load_plugins(entry_points=[an_entry(module, "sample")])


def logged(caplog: pytest.LogCaptureFixture, tell: Any) -> list[str]:
    caplog.clear()
    tell()
    return [record.getMessage() for record in caplog.records]


PACK: Any = VALUES["pack"]


def test_the_sample_of_scan_pack_points_at_what_is_run_unseen() -> None:
    (found,) = loaded("scan_pack").scan_pack(PACK, VALUES["source"], "publish")
    assert (found.rule, found.severity, found.file, found.line) == ("sample:pipe-to-shell", Severity.ERROR, "a.sh", 2)
    assert loaded("scan_pack").scan_pack(PACK, MemorySource({"a.sh": b"curl x\n"}), "publish") == ()


def test_the_sample_of_decide_install_asks_for_a_publisher() -> None:
    plugins = loaded("decide_install")
    assert "nobody vouches for acme-tool" in plugins.decide_install(PACK, "", "/x", "/srv", ADA).reason
    assert plugins.decide_install(PACK, "acme", "/x", "/srv", ADA).reason == "no rule allows it"


def test_the_sample_of_decide_run_changes_nothing_at_the_weekend() -> None:
    class Saturday:
        @staticmethod
        def now() -> datetime:
            return datetime(2026, 1, 3)

    class Monday:
        @staticmethod
        def now() -> datetime:
            return datetime(2026, 1, 5)

    changes = a_target(a_skill(skill_class=SkillClass.MUTATING))
    reads = a_target(a_skill(skill_class=SkillClass.SAFE))
    asked = [(Saturday, changes), (Saturday, reads), (Monday, changes)]
    given = [loaded("decide_run", datetime=day).decide_run(target, a_call(), {}).reason for day, target in asked]
    assert given == ["sample: nothing is changed here at the weekend", "no rule allows it", "no rule allows it"]


def test_the_sample_of_decide_publish_keeps_its_names() -> None:
    plugins = loaded("decide_publish")
    assert "are acme's" in plugins.decide_publish(PACK, "rival", "").reason
    assert plugins.decide_publish(PACK, "acme", "").reason == "no rule allows it"
    assert plugins.decide_publish(a_pack("other"), "rival", "").reason == "no rule allows it"


def test_the_sample_of_register_fetchers_copies_from_the_share(tmp_path: Path) -> None:
    (tmp_path / "tool-1.0.0.zip").write_bytes(b"0123456789")
    (fetcher,) = loaded("register_fetchers", SHARE=tmp_path).register_fetchers().values()
    out = io.BytesIO()
    fetcher.fetch("acme://tools/tool-1.0.0.zip", out, 4)
    assert out.getvalue() == b"01234", "a byte more than is taken"
    with pytest.raises(NotFound, match=r"there is no gone\.zip on the share"):
        fetcher.fetch("acme://tools/gone.zip", io.BytesIO(), 4)


@pytest.mark.flow
def test_the_sample_of_register_executors_runs_commands_in_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    podman = tmp_path / "podman"
    podman.write_text('#!/bin/sh\nread -r args\n[ "$args" = die ] && echo oh >&2 && exit 3\n[ "$args" = hang ] && exec sleep 9\nprintf \'["%s","%s"]\' "$args" "$*"\n')
    podman.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    target = a_target(a_skill(folder="tool", command=Command("tool/skill.json", "run.sh", {})))
    executor = loaded("register_executors").register_executors({})[Kind.COMMAND]
    outcome = executor.execute(target, "7", 5.0, NEVER)
    outcome.result[1] = re.sub(r"market-[0-9a-f]{32}", "NAME", outcome.result[1])  # type: ignore[index]
    command = "run --rm -i --name NAME -v /srv/a-pack:/pack:ro python:3.11-slim /pack/tool/run.sh"
    assert (outcome.kind, outcome.result) == (OutcomeKind.OK, ["7", command])
    failed = executor.execute(target, "die", 5.0, NEVER)
    assert (failed.kind, failed.error, failed.stderr) == (OutcomeKind.FAILED, "it ended with 3", "oh\n")
    assert executor.execute(target, "hang", 0.2, NEVER).kind is OutcomeKind.TIMEOUT
    gone = Cancellation()
    gone.cancel("its caller went away")
    cancelled = executor.execute(target, "7", 5.0, gone)
    assert (cancelled.kind, cancelled.error) == (OutcomeKind.CANCELLED, "cancelled, since its caller went away")


def test_the_samples_of_news_say_what_happened(caplog: pytest.LogCaptureFixture) -> None:
    installed, removed, published, yanked = map(loaded, ("pack_installed", "pack_removed", "release_published", "release_yanked"))
    assert logged(caplog, lambda: installed.pack_installed(PACK, "", "/x", "/srv", "installed", "", ADA, NOW)) == ["ada installed acme-tool 1.0.0 into /srv"]
    assert logged(caplog, lambda: removed.pack_removed("acme-tool", "1.0.0", "/srv", ADA, NOW)) == ["ada removed acme-tool 1.0.0"]
    assert logged(caplog, lambda: published.release_published(PACK, "acme", "acme-tool.zip", "sha256:1", NOW)) == ["acme published acme-tool 1.0.0 as acme-tool.zip"]
    assert logged(caplog, lambda: yanked.release_yanked("acme-tool", "1.0.0", "acme", "leaks", undone=False, at=NOW)) == ["acme-tool 1.0.0 is yanked: leaks"]
    assert logged(caplog, lambda: yanked.release_yanked("acme-tool", "1.0.0", "acme", "", undone=True, at=NOW)) == ["acme-tool 1.0.0 may be used again: "]


def test_the_sample_of_skill_ran_counts() -> None:
    counts: Counter[Any] = Counter()
    plugins = loaded("skill_ran", counts=counts)
    for kind in (OutcomeKind.OK, OutcomeKind.OK, OutcomeKind.DENIED):
        plugins.skill_ran(None, a_call("tool"), "{}", Outcome(kind), NOW)
    assert counts == {("tool", OutcomeKind.OK): 2, ("tool", OutcomeKind.DENIED): 1}
