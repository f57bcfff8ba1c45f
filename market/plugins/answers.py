"""The one place that calls a plugin's code: what it answers in the right types, and what its crash is - a denial, a failed scan, a line.

Whatever it raises becomes one exception of ours. Not only `Exception`: `sys.exit`, a cancelled task, a panic of compiled code and a
class of the plugin's own would end a loop over the plugins, a request or a command in the middle otherwise.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from market.errors import MarketError, PluginError, Problem, Severity
from market.plugins.prints import diverted_prints
from market.plugins.values import Unfit, check_error, hold_decision, hold_problem
from market.trust.decision import Decision, deny

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from market.plugins.find import Implementation

T = TypeVar("T")
Offer = TypeVar("Offer")

MAX_ERROR_CHARACTERS = 2_000
MAX_FINDINGS = 200
"""Findings of one plugin for one pack; the rest is counted."""

CRASHED = "crashed"

_log = logging.getLogger("market.plugins")
_told = logging.getLogger("market.plugins.told")
"""For what whoever asked is told too: a server's log has it, and a command, which logs nowhere, doesn't print it twice."""
_told.addHandler(logging.NullHandler())


class Crashed(Exception):
    """What a plugin's code raised, in one line; the cause is what it raised."""


@dataclass(frozen=True, slots=True)
class FailedScan(Problem):
    """A finding that says that a scan failed, so that nothing in the pack caused it. No plugin can make one: its findings are rebuilt."""


def call_foreign(function: Callable[[], T], *, may_explain: bool = False) -> T:
    """Call a plugin's code. Raises `Crashed` for whatever it raises, but for `Unfit`, and for a person's Ctrl-C.

    With `may_explain` our errors pass, since they say what is wrong; one that couldn't be shown, as its text is no text, is a crash.
    """
    try:
        return function()
    except Unfit:
        raise
    except BaseException as error:
        if may_explain and isinstance(error, MarketError):
            _check_shown(error)
            raise
        raise _crash_of(error) from error


def describe(error: BaseException) -> str:
    """Return an error of foreign code in one line."""
    try:
        text = " ".join(str(error).split())[:MAX_ERROR_CHARACTERS]
    except Exception:  # its own __str__ is foreign code too
        text = ""
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


def ask_for_decision(one: Implementation, values: Mapping[str, Any], *, for_outsiders: bool = False) -> Decision | None:
    """Return what a plugin decides, with its name before the reason; a crash or a wrong type is a denial.

    `for_outsiders`: who reads it doesn't operate this machine, so what was raised is only in the log.
    """
    try:
        decision = call_foreign(lambda: hold_decision(one.call(values)))
    except (Crashed, Unfit) as error:
        return deny(_note_failure(one, error, for_outsiders=for_outsiders))
    return decision if decision is None or one.own else replace(decision, reason=f"{one.plugin}: {decision.reason}")


def ask_for_findings(
    one: Implementation, values: Mapping[str, Any], *, for_outsiders: bool = False
) -> Iterator[Problem]:
    """Yield the findings of one plugin; a crash, and whatever isn't a finding, is a `FailedScan`, which stops the act.

    `for_outsiders` as in `ask_for_decision`.
    """
    try:
        answer = call_foreign(lambda: _list_findings(one.call(values)))
    except (Crashed, Unfit) as error:
        yield _failed_scan(one, error, for_outsiders=for_outsiders)
        return
    for found in answer[:MAX_FINDINGS]:
        try:
            finding = call_foreign(partial(hold_problem, found))
        except (Crashed, Unfit) as error:
            yield _failed_scan(one, error, for_outsiders=for_outsiders)
        else:
            yield finding if one.own else replace(finding, rule=f"{one.plugin}:{finding.rule}")
    if len(answer) > MAX_FINDINGS:
        text = f"the plugin {one.plugin} has more than {MAX_FINDINGS} findings"
        yield Problem(f"{one.plugin}:more", Severity.WARNING, text)


def ask_for_offer(
    one: Implementation, values: Mapping[str, Any], check: Callable[[Implementation, object], Offer]
) -> Offer:
    """Return what a plugin offers, as `check` lets it pass; raises `PluginError` that names it for a crash."""
    try:
        answer = call_foreign(lambda: one.call(values))
    except Crashed as crash:
        raise broken(one.plugin, f"it crashed in {one.hook}: {crash}") from crash
    try:
        return call_foreign(lambda: check(one, answer), may_explain=True)
    except Crashed as crash:
        raise broken(one.plugin, f"what it gave to {one.hook} crashed: {crash}") from crash


def tell(one: Implementation, values: Mapping[str, Any]) -> None:
    """Tell a plugin what has happened; a crash is logged."""
    try:
        call_foreign(lambda: one.call(values))
    except Crashed as crash:
        _log.error("%s crashed in %s: %s", _name(one), one.hook, crash)
        _log.debug("where %s crashed", one.plugin, exc_info=crash.__cause__)


def note_failed_call(text: str, error: BaseException | None) -> None:
    """Log what the caller of a plugin's executor or fetcher is told too."""
    _told.error("%s", text)
    _told.debug("where it failed", exc_info=error)


def _list_findings(answer: object) -> list[object]:
    """Return the answer of a scan as a list that is bounded; what has no findings to go through is a wrong value."""
    if answer is None:
        return []
    if isinstance(answer, (str, bytes, Mapping)) or not hasattr(type(answer), "__iter__"):
        raise Unfit(f"{type(answer).__name__} in place of a list of Problems")
    found: Any = answer
    with diverted_prints():  # a generator's code runs only now
        return list(islice(found, MAX_FINDINGS + 1))


def _failed_scan(one: Implementation, error: Exception, *, for_outsiders: bool) -> FailedScan:
    text = _note_failure(one, error, for_outsiders=for_outsiders)
    reason = "what wasn't scanned isn't known to be good"
    fix = _fix_of(one, for_outsiders=for_outsiders)
    return FailedScan(f"{one.plugin}:{CRASHED}", Severity.ERROR, text, reason=reason, fix=fix)


def _fix_of(one: Implementation, *, for_outsiders: bool) -> str:
    if for_outsiders:
        return "ask whoever operates the index: what happened is in its log"
    if one.own:  # it can't be switched off
        return "it's a fault of Market's: report it, with this sentence and, of a host, the log"
    return (
        f"ask the plugin's author; whoever operates this machine can switch it off: market plugins disable {one.plugin}"
    )


def _name(one: Implementation) -> str:
    return f"Market's own {one.plugin}" if one.own else f"the plugin {one.plugin}"


def _note_failure(one: Implementation, error: Exception, *, for_outsiders: bool) -> str:
    """Log why an answer doesn't count, and return it in a sentence for whoever asked."""
    who = _name(one)
    if isinstance(error, Unfit):
        text = full = f"{who} answered {one.hook} with {error}"
    else:
        text = f"{who} crashed in {one.hook}"
        full = f"{text}: {error}"
    note_failed_call(full, error.__cause__)
    return text if for_outsiders else full


def _check_shown(error: MarketError) -> None:
    try:
        check_error(error)
    except Unfit as unfit:
        raise Crashed(f"it raised {unfit}") from error


def _crash_of(error: BaseException) -> Crashed:
    """Return the crash for what was raised; Ctrl-C goes on up.

    Python raises that in the main thread only: in another, as servers call hooks, no person did.
    """
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error
    return Crashed(describe(error))
