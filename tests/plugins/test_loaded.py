"""Plugins as one value: what is wrong with one is said by its name, and each implementation is called by itself."""

from __future__ import annotations

import io
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from market.cancellation import NEVER, Cancellation, Cancelled
from market.errors import MarketError, NotFound, PluginError, Problem, Severity, Unavailable
from market.hookspecs import hookimpl
from market.model import Kind, Outcome, OutcomeKind
from market.pack.source import MemorySource
from market.plugins.answers import MAX_FINDINGS
from market.plugins.functions import HOOK_ARGUMENTS
from market.plugins.loaded import describe_plugins, load_plugins
from market.plugins.offers import PluggedExecutor, PluggedFetcher
from market.trust.decision import Decision, allow, deny
from tests.plugged import ADA, a_call, a_pack, a_target, an_entry, raising

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Stop(BaseException):
    """What compiled code, a cancelled task or a plugin's own class raises: no Exception."""


class Says:
    """A plugin whose hooks return, or raise, what it was made with."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.heard: list[str] = []

    def _answer(self, what: str) -> Any:
        self.heard.append(what)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    @hookimpl
    def register_executors(self) -> Any:
        return self._answer("register_executors")

    @hookimpl
    def register_fetchers(self) -> Any:
        return self._answer("register_fetchers")

    @hookimpl
    def scan_pack(self, act: str) -> Any:
        return self._answer(act)

    @hookimpl
    def decide_install(self, root: str) -> Any:
        return self._answer(root)

    @hookimpl
    def decide_run(self, arguments: Any) -> Any:
        return self._answer("decide_run")

    @hookimpl
    def decide_publish(self, owner: str) -> Any:
        return self._answer(owner)

    @hookimpl
    def pack_installed(self, action: str) -> Any:
        return self._answer(action)

    @hookimpl
    def pack_removed(self, name: str) -> Any:
        return self._answer(name)

    @hookimpl
    def skill_ran(self, arguments_text: str) -> Any:
        return self._answer(arguments_text)

    @hookimpl
    def release_published(self, tree_digest: str) -> Any:
        return self._answer(tree_digest)

    @hookimpl
    def release_yanked(self, reason: str) -> Any:
        return self._answer(reason)


def decisions(plugins: Any) -> list[Decision]:
    return [
        plugins.decide_install(a_pack(), "acme", "http://index", "/srv", ADA),
        plugins.decide_run(a_target(), a_call(), {}),
        plugins.decide_publish(a_pack(), "acme", ""),
    ]


def tell_everything(plugins: Any) -> None:
    plugins.pack_installed(a_pack(), "acme", "", "/srv", "upgraded", "0.9", ADA, NOW)
    plugins.pack_removed("a-pack", "1.0.0", "/srv", ADA, NOW)
    plugins.skill_ran(None, a_call(), '{"a":1}', Outcome(OutcomeKind.UNKNOWN), NOW)
    plugins.release_published(a_pack(), "acme", "a-pack.zip", "sha256:1", NOW)
    plugins.release_yanked("a-pack", "1.0.0", "acme", "leaks", undone=False, at=NOW)


def test_every_hook_reaches_own_and_installed_plugins_with_the_arguments_that_they_take() -> None:
    ours, theirs = Says(), Says()
    plugins = load_plugins({"ours": ours}, entry_points=[an_entry(theirs)])
    plugins.register_executors({})
    plugins.register_fetchers()
    plugins.scan_pack(a_pack(), MemorySource({}), "install")
    decisions(plugins)
    tell_everything(plugins)
    expected = [
        "register_executors",
        "register_fetchers",
        "install",
        "/srv",
        "decide_run",
        "",
        "upgraded",
        "a-pack",
        '{"a":1}',
        "sha256:1",
        "leaks",
    ]
    assert ours.heard == theirs.heard == expected
    assert len(expected) == len(HOOK_ARGUMENTS)


def test_nothing_is_allowed_by_silence_or_by_a_plugin_alone() -> None:
    assert not any(one.allowed for one in decisions(load_plugins(entry_points=[])))
    assert not any(one.allowed for one in decisions(load_plugins(entry_points=[an_entry(Says(allow("yes")))])))


def test_a_plugin_denies_by_name_and_can_not_allow_what_ours_denies() -> None:
    denied = decisions(load_plugins({"ours": Says(allow("yes"))}, entry_points=[an_entry(Says(deny("not here")))]))
    assert {(one.allowed, one.reason) for one in denied} == {(False, "tested: not here")}
    kept = decisions(load_plugins({"ours": Says(deny("no"))}, entry_points=[an_entry(Says(allow("yes")))]))
    assert {(one.allowed, one.reason) for one in kept} == {(False, "no")}


@pytest.mark.parametrize("answer", [True, "yes", 1, [allow("yes")], Decision("no", "x"), Decision(1, "x"), Decision(True, None)])  # type: ignore[arg-type]
def test_an_answer_of_a_wrong_type_is_a_denial(answer: object) -> None:
    given = decisions(load_plugins({"ours": Says(allow("yes"))}, entry_points=[an_entry(Says(answer))]))
    assert not any(one.allowed for one in given)
    assert all(
        f"the plugin tested answered decide_{act} with " in one.reason
        for act, one in zip(("install", "run", "publish"), given, strict=True)
    )


@pytest.mark.parametrize("crash", [ValueError("bad\nluck"), SystemExit(3), MarketError("ours too"), Stop(), GeneratorExit()])
def test_a_crash_is_a_denial_that_names_the_plugin(crash: BaseException) -> None:
    given = decisions(load_plugins({"ours": Says(allow("yes"))}, entry_points=[an_entry(Says(crash))]))
    assert not any(one.allowed for one in given)
    assert all(
        f"the plugin tested crashed in decide_{act}" in one.reason
        for act, one in zip(("install", "run", "publish"), given, strict=True)
    )
    assert all("\n" not in one.reason for one in given)


@pytest.mark.parametrize(("crash", "said"), [(ValueError("no luck"), "ValueError: no luck"), (Stop(), "Stop")])
def test_news_go_to_all_and_a_crash_is_logged(caplog: pytest.LogCaptureFixture, crash: BaseException, said: str) -> None:
    first, last = Says(), Says()
    plugins = load_plugins(
        entry_points=[an_entry(first, "a"), an_entry(Says(crash), "b"), an_entry(last, "c")]
    )
    with caplog.at_level(logging.ERROR):
        tell_everything(plugins)
    assert first.heard == last.heard == ["upgraded", "a-pack", '{"a":1}', "sha256:1", "leaks"]
    hooks = ("pack_installed", "pack_removed", "skill_ran", "release_published", "release_yanked")
    assert [record.getMessage() for record in caplog.records] == [
        f"the plugin b crashed in {hook}: {said}" for hook in hooks
    ]


def test_findings_keep_their_place_and_get_the_plugins_name() -> None:
    finding = Problem("aws-key", Severity.ERROR, "a key", "a.py", 3, 7)
    plugins = load_plugins(
        entry_points=[an_entry(Says((finding,)), "a"), an_entry(Says(None), "b"), an_entry(Says([]), "c")]
    )
    (found,) = plugins.scan_pack(a_pack(), MemorySource({}), "publish")
    assert (found.rule, found.place, found.severity) == ("a:aws-key", "a.py:3:7", Severity.ERROR)


@pytest.mark.parametrize("answer", [ValueError("no"), SystemExit(0), Stop(), ["a sentence"], 7, "abc", b"abc", {"rule": 1, "severity": 2}, Problem("x", Severity.WARNING, "y"), object()])
def test_a_scan_that_crashes_or_answers_nonsense_is_a_finding_that_stops(answer: object) -> None:
    found = load_plugins(entry_points=[an_entry(Says(answer))], for_outsiders=True).scan_pack(a_pack(), MemorySource({}), "publish")
    assert [(one.rule, one.severity) for one in found] == [("tested:crashed", Severity.ERROR)]
    assert all("the plugin tested " in one.text and "ask whoever operates the index" in one.fix for one in found)
    found = load_plugins(entry_points=[an_entry(Says(answer))]).scan_pack(a_pack(), MemorySource({}), "install")
    assert all("market plugins disable tested" in one.fix for one in found)


def test_a_severity_may_be_its_word_and_a_finding_of_wrong_types_stops_the_act() -> None:
    given: list[Any] = [Problem("a", "error", "x"), Problem("b", "warning", "y"), Problem("c", "bad", "z"), Problem("d", Severity.WARNING, "w", Path("f"))]  # type: ignore[arg-type]
    found = load_plugins(entry_points=[an_entry(Says(given))]).scan_pack(a_pack(), MemorySource({}), "install")
    assert [one.rule for one in found] == ["tested:a", "tested:b", "tested:crashed", "tested:crashed"]
    assert [one.severity for one in found] == [Severity.ERROR, Severity.WARNING, Severity.ERROR, Severity.ERROR]
    assert all(isinstance(one.severity, Severity) for one in found)
    assert found[2].text == "the plugin tested answered scan_pack with a Problem whose severity is 'bad'; it is error or refusal or warning"
    assert found[3].text.endswith("a Problem whose file is PosixPath, not str")


def test_publishers_are_not_told_what_a_crash_on_the_index_said(caplog: pytest.LogCaptureFixture) -> None:
    plugins = load_plugins({"ours": Allows()}, entry_points=[an_entry(Says(ValueError("db://user:pw@host")))], for_outsiders=True)
    (found,) = plugins.scan_pack(a_pack(), MemorySource({}), "publish")
    told = [found.text, found.fix, plugins.decide_publish(a_pack(), "acme", "").reason]
    assert told == ["the plugin tested crashed in scan_pack", "ask whoever operates the index: what happened is in its log",
                    "the plugin tested crashed in decide_publish"]
    assert caplog.text.count("db://user:pw@host") == 2


def test_a_crash_of_a_scan_of_ours_is_to_be_reported_since_nobody_can_switch_it_off() -> None:
    (found,) = load_plugins({"market-scan": Says(ValueError("no"))}, entry_points=[]).scan_pack(a_pack(), MemorySource({}), "install")
    assert found.text == "Market's own market-scan crashed in scan_pack: ValueError: no"
    assert "a fault of Market's: report it" in found.fix
    assert "disable" not in found.fix
    (found,) = load_plugins({"market-scan": Says(ValueError("no"))}, entry_points=[], for_outsiders=True).scan_pack(a_pack(), MemorySource({}), "publish")
    assert (found.text, found.fix) == ("Market's own market-scan crashed in scan_pack", "ask whoever operates the index: what happened is in its log")


def test_one_plugin_can_not_flood_the_report() -> None:
    many = [Problem("x", Severity.WARNING, "again")] * (MAX_FINDINGS + 50)
    found = load_plugins(entry_points=[an_entry(Says(many))]).scan_pack(a_pack(), MemorySource({}), "publish")
    assert len(found) == MAX_FINDINGS + 1
    assert found[-1].rule == "tested:more"


class RunsLater:
    async def execute(self, target: object, args_text: str, timeout_seconds: float) -> None: ...


class RunsAlone:
    def execute(self, target: object) -> None: ...


class Runs:
    def __init__(self, act: Any = lambda: Outcome(OutcomeKind.OK)) -> None:
        self.act = act

    def execute(self, *_: object) -> Any:
        return self.act()


def test_an_executor_of_a_plugin_takes_the_place_of_ours() -> None:
    ours, theirs = Runs(), Runs()
    plugins = load_plugins(
        {"ours": Says({Kind.COMMAND: ours, Kind.PYTHON: ours})}, entry_points=[an_entry(Says({Kind.COMMAND: theirs}))]
    )
    assert plugins.register_executors({}) == {Kind.COMMAND: PluggedExecutor("tested", theirs), Kind.PYTHON: ours}


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda: 1 / 0, "the plugin tested crashed when it ran tested: ZeroDivisionError: division by zero"),
        (lambda: sys.exit(3), "the plugin tested crashed when it ran tested: SystemExit: 3"),
        (raising(Stop()), "the plugin tested crashed when it ran tested: Stop"),
        (raising(NotFound(7)), "the plugin tested crashed when it ran tested: it raised a NotFound whose message is 7, not str"),  # type: ignore[arg-type]
        (lambda: {"ok": True}, "the plugin tested ran tested and gave dict in place of an Outcome"),
        (lambda: Outcome("well"), "the plugin tested ran tested and gave an Outcome whose kind is 'well'; it is ok or failed or timeout or cancelled or invalid or denied or unknown"),  # type: ignore[arg-type]
        (lambda: Outcome(OutcomeKind.OK, {1}), "the plugin tested ran tested and gave an Outcome whose result is not JSON: Object of type set is not JSON serializable"),
    ],
)
def test_an_executor_that_crashes_is_a_failed_call_that_names_the_plugin(act: Any, error: str) -> None:
    plugins = load_plugins(entry_points=[an_entry(Says({Kind.COMMAND: Runs(act)}))])
    outcome = plugins.register_executors({})[Kind.COMMAND].execute(a_target(), "{}", 1.0, NEVER)
    assert (outcome.kind, outcome.error) == (OutcomeKind.FAILED, error)


class EndsEarly:
    def execute(self, target: Any, args_text: str, timeout_seconds: float, cancellation: Cancellation) -> Outcome:
        cancellation.check()
        return Outcome(OutcomeKind.OK)


class WithoutCancellation:
    def execute(self, target: Any, args_text: str, timeout_seconds: float) -> Outcome:
        return Outcome(OutcomeKind.OK)


def test_an_executor_gets_the_cancellation_if_it_takes_it() -> None:
    cancellation = Cancellation()
    cancellation.cancel("its caller went away")
    plugins = load_plugins(
        entry_points=[an_entry(Says({Kind.COMMAND: EndsEarly(), Kind.PYTHON: WithoutCancellation()}))]
    )
    executors = plugins.register_executors({})
    with pytest.raises(Cancelled):
        executors[Kind.COMMAND].execute(a_target(), "{}", 1.0, cancellation)
    assert executors[Kind.PYTHON].execute(a_target(), "{}", 1.0, cancellation).kind is OutcomeKind.OK


def test_a_cancellation_that_nobody_wished_is_a_crash() -> None:
    plugins = load_plugins(entry_points=[an_entry(Says({Kind.COMMAND: Runs(raising(Cancelled("why")))}))])
    outcome = plugins.register_executors({})[Kind.COMMAND].execute(a_target(), "{}", 1.0, Cancellation())
    assert (outcome.kind, outcome.error) == (OutcomeKind.FAILED, "the plugin tested crashed when it ran tested: Cancelled: why")


def test_what_a_plugin_does_on_cancel_may_fail_in_any_way(caplog: pytest.LogCaptureFixture) -> None:
    cancellation, heard = Cancellation(), Says()
    with cancellation.on_cancel(raising(Stop("panicked"))), cancellation.on_cancel(lambda: heard.heard.append("end")):
        cancellation.cancel("its caller went away")
    assert heard.heard == ["end"]
    assert "what ends a cancelled call failed" in caplog.text


def test_an_executor_may_say_that_it_can_not_start() -> None:
    plugins = load_plugins(entry_points=[an_entry(Says({Kind.COMMAND: Runs(raising(Unavailable("no podman")))}))])
    with pytest.raises(Unavailable):
        plugins.register_executors({})[Kind.COMMAND].execute(a_target(), "{}", 1.0, NEVER)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ValueError("no docker"), "it crashed in register_executors: ValueError: no docker"),
        (7, "gave no mapping"),
        ({"cobol": Runs()}, "gave 'cobol' in place of a kind of skill: command or python or native"),
        ({Kind.COMMAND: None}, "gave as the executor of 'command' NoneType, which has no method execute(target, args_text, timeout_seconds)"),
        ({Kind.COMMAND: RunsLater()}, "RunsLater.execute is asynchronous"),
        ({Kind.COMMAND: Says()}, "Says, which has no method execute"),
        ({Kind.COMMAND: RunsAlone()}, "RunsAlone.execute is called with target, args_text, timeout_seconds, by position: too many"),
        ({Kind.GUIDE: Runs()}, "never run"),
    ],
)
def test_a_bad_offer_of_executors_stops_the_start(answer: object, why: str) -> None:
    with pytest.raises(PluginError, match="the plugin tested can't be used") as caught:
        load_plugins(entry_points=[an_entry(Says(answer))]).register_executors({})
    assert why in caught.value.why


def test_two_plugins_that_run_one_kind_are_both_named() -> None:
    entries = [an_entry(Says({Kind.COMMAND: Runs()}), name) for name in ("a", "b")]
    with pytest.raises(PluginError, match="the plugin b can't") as caught:
        load_plugins(entry_points=entries).register_executors({})
    assert caught.value.why.startswith("a offers command too")


class Fetches:
    def __init__(self, act: Any = lambda: None) -> None:
        self.act = act

    def fetch(self, *_: object) -> None:
        self.act()


def test_a_fetcher_of_a_plugin_takes_the_place_of_ours() -> None:
    ours, theirs = Fetches(), Fetches()
    entries = [an_entry(Says({"https": theirs, "s3": theirs}))]
    plugins = load_plugins({"ours": Says({"https": ours, "http": ours})}, entry_points=entries)
    plugged = PluggedFetcher("tested", theirs)
    assert plugins.register_fetchers() == {"https": plugged, "http": ours, "s3": plugged}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ValueError("no git"), "it crashed in register_fetchers: ValueError: no git"),
        (7, "gave no mapping"),
        ({"S 3": Fetches()}, "gave 'S 3' in place of a scheme"),
        ({3: Fetches()}, "gave 3 in place of a scheme"),
        ({"s3": print}, "gave as the fetcher of 's3' builtin_function_or_method, which has no method fetch(address, out, limit_bytes)"),
    ],
)
def test_a_bad_offer_of_fetchers_names_the_plugin(answer: object, why: str) -> None:
    with pytest.raises(PluginError, match="the plugin tested can't be used") as caught:
        load_plugins(entry_points=[an_entry(Says(answer))]).register_fetchers()
    assert why in caught.value.why


def test_a_fetcher_that_crashes_is_an_error_that_names_the_plugin() -> None:
    offered = {"s3": Fetches(raising(KeyError("bucket"))), "x": Fetches(raising(NotFound("gone")))}
    fetchers = load_plugins(entry_points=[an_entry(Says(offered))]).register_fetchers()
    with pytest.raises(PluginError) as caught:
        fetchers["s3"].fetch("s3://b/x.zip", io.BytesIO(), 9)
    assert (caught.value.message, caught.value.why) == ("s3://b/x.zip can't be fetched", "the plugin tested crashed: KeyError: 'bucket'")
    assert "disable" not in caught.value.hint
    with pytest.raises(NotFound):
        fetchers["x"].fetch("x://y", io.BytesIO(), 9)


def test_a_fetcher_that_closes_the_file_is_an_error_that_names_the_plugin() -> None:
    class Closes:
        def fetch(self, address: str, out: io.BytesIO, limit_bytes: int) -> None:
            out.close()

    fetchers = load_plugins(entry_points=[an_entry(Says({"s3": Closes()}))]).register_fetchers()
    with pytest.raises(PluginError) as caught:
        fetchers["s3"].fetch("s3://b", io.BytesIO(), 9)
    assert caught.value.why == "the plugin tested closed the file that it was to fill"


class Misspelt:
    @hookimpl
    def decide_rum(self) -> None: ...


class Unheard:
    @hookimpl
    def tea_time(self) -> None: ...


class WrongArgument:
    @hookimpl
    def decide_run(self, traget: object) -> None: ...


class Wraps:
    @hookimpl(wrapper=True)
    def decide_run(self) -> Any:
        yield
        return allow("always")


class Allows:
    @hookimpl
    def decide_publish(self) -> Decision:
        return allow("yes")


class HasATrap:
    def __dir__(self) -> list[str]:
        raise Stop("don't look")


class Fine:
    @hookimpl
    def pack_removed(self) -> None: ...


def a_module() -> ModuleType:
    module = ModuleType("plugin")
    exec("from market.hookspecs import hookimpl\n@hookimpl\ndef pack_removed(name): ...", module.__dict__)
    return module


@pytest.mark.parametrize(
    ("plugin", "why"),
    [
        (ImportError("no module named boto3"), "loading it failed: ImportError: no module named boto3"),
        (SystemExit(1), "loading it failed: SystemExit: 1"),
        (Stop("panicked"), "loading it failed: Stop: panicked"),
        (HasATrap(), "Stop: don't look"),
        (Misspelt(), "there is no hook decide_rum; did you mean decide_run?"),
        (Unheard(), "there is no hook tea_time: there are register_executors"),
        (WrongArgument(), "decide_run has no argument traget; did you mean target? it has target, call, arguments"),
        (Wraps(), "decide_run is a wrapper"),
        (object(), "it implements no hook"),
        (None, "it implements no hook"),
        (Fine, "its entry point names the class Fine"),
    ],
)
def test_a_plugin_that_can_not_be_used_is_named_with_what_is_wrong(plugin: object, why: str) -> None:
    with pytest.raises(PluginError, match=r"^the plugin mine of acme-plugin can't be used$") as caught:
        load_plugins(entry_points=[an_entry(Fine(), "good"), an_entry(plugin, "mine", "acme-plugin")])
    assert caught.value.why.startswith(why)
    assert "market plugins disable mine" in caught.value.hint
    assert caught.value.details == {"plugin": "mine", "distribution": "acme-plugin"}


def test_two_plugins_of_one_name_are_both_named() -> None:
    with pytest.raises(PluginError) as caught:
        load_plugins(entry_points=[an_entry(Fine(), "same", "one"), an_entry(Fine(), "same", "two")])
    assert "of two" in caught.value.message
    assert caught.value.why == "one has a plugin of this name too"


def test_a_plugin_can_not_take_the_name_of_one_of_ours() -> None:
    with pytest.raises(PluginError, match="market-gate"):
        load_plugins({"market-gate": Fine()}, entry_points=[an_entry(Fine(), "market-gate", "evil")])


def test_a_disabled_plugin_is_not_even_loaded() -> None:
    broken = an_entry(ImportError("gone"), "bad")
    assert load_plugins(entry_points=[broken], disabled={"bad"}).implementations == {}


def test_a_module_is_a_plugin_too() -> None:
    assert set(load_plugins(entry_points=[an_entry(a_module())]).implementations) == {"pack_removed"}


def test_the_list_shows_good_bad_and_disabled_ones() -> None:
    entries = [an_entry(Fine(), "good"), an_entry(Misspelt(), "bad"), an_entry(ImportError("gone"), "off")]
    rows = describe_plugins(entries, {"off"})
    assert [(row.name, row.state, row.hooks) for row in rows] == [
        ("good", "active", ("pack_removed",)),
        ("bad", "broken", ()),
        ("off", "disabled", ()),
    ]
    assert rows[1].trouble.startswith("there is no hook decide_rum")
