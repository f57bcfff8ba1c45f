"""What runs each kind of skill, as the plugins offer it: whose executor is taken, and what a crash of one is."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.errors import MarketError
from market.model import Kind, Outcome, OutcomeKind
from market.plugin_checks import broken, describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.hookspecs import Executor, Target
    from market.plugin_checks import Implementation

_log = logging.getLogger("market.plugins")


@dataclass(frozen=True, slots=True)
class PluggedExecutor:
    """The executor of a plugin: a crash, or an answer that is no outcome, is a failed call that names the plugin."""

    plugin: str
    executor: Executor

    def execute(self, target: Target, args_text: str, timeout_seconds: float) -> Outcome:
        """Run the skill; see `market.hookspecs.Executor`."""
        try:
            outcome: object = self.executor.execute(target, args_text, timeout_seconds)
        except MarketError:
            raise
        except (Exception, SystemExit) as error:
            return self._fail(f"crashed when it ran {target.key}: {describe(error)}")
        return outcome if isinstance(outcome, Outcome) else self._fail(f"gave no outcome of {target.key}")

    def _fail(self, what: str) -> Outcome:
        text = f"the plugin {self.plugin} {what}"
        _log.error("%s", text)
        return Outcome(OutcomeKind.FAILED, error=text)


def choose_executors(offers: Iterable[tuple[Implementation, object]]) -> dict[Kind, Executor]:
    """Return an executor for each kind: a plugin's in the place of Market's own. Two plugins with one kind are a `PluginError`."""
    own: dict[Kind, Executor] = {}
    plugged: dict[Kind, PluggedExecutor] = {}
    for one, answer in offers:
        for kind, executor in _check(one, answer).items():
            if one.own:
                own[kind] = executor
            elif kind in plugged:
                raise broken(one.plugin, f"{plugged[kind].plugin} runs {kind} skills too: switch one of them off")
            else:
                plugged[kind] = PluggedExecutor(one.plugin, executor)
    return {**own, **plugged}


def _check(one: Implementation, answer: Any) -> Mapping[Kind, Executor]:
    if answer is None:
        return {}
    try:
        offered: dict[Kind, Executor] = {Kind(kind): executor for kind, executor in answer.items()}
    except (AttributeError, TypeError, ValueError):
        raise broken(one.plugin, f"{one.hook} gave no mapping from kinds to executors") from None
    for kind, executor in offered.items():
        if kind is Kind.GUIDE:
            raise broken(one.plugin, f"{one.hook} offers to run guides, which are read and never run")
        if not callable(getattr(executor, "execute", None)):
            why = f"{one.hook} gave {type(executor).__name__} in place of an executor of {kind} skills"
            raise broken(one.plugin, why)
    return offered
