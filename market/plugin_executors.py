"""What runs each kind of skill, as the plugins offer it, and what a crash of one is."""

from __future__ import annotations

import inspect
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cancellation import Cancelled
from market.errors import MarketError
from market.model import Kind, Outcome, OutcomeKind
from market.plugin_checks import broken, describe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Executor, Target
    from market.plugin_checks import Implementation

_log = logging.getLogger("market.plugins")


@dataclass(frozen=True, slots=True)
class PluggedExecutor:
    """The executor of a plugin: a crash, or an answer that is no outcome, is a failed call that names the plugin."""

    plugin: str
    executor: Executor

    def execute(self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation) -> Outcome:
        """Run the skill; see `market.hookspecs.Executor`."""
        execute: Callable[..., object] = self.executor.execute
        more = {"cancellation": cancellation} if _takes_cancellation(execute) else {}
        try:
            outcome = execute(target, args_text, timeout_seconds, **more)
        except (MarketError, Cancelled):
            raise
        except (Exception, SystemExit) as error:
            return self._fail(f"crashed when it ran {target.key}: {describe(error)}")
        return outcome if isinstance(outcome, Outcome) else self._fail(f"gave no outcome of {target.key}")

    def _fail(self, what: str) -> Outcome:
        text = f"the plugin {self.plugin} {what}"
        _log.error("%s", text)
        return Outcome(OutcomeKind.FAILED, error=text)


def _takes_cancellation(execute: Callable[..., object]) -> bool:
    """Whether an executor wants to know; those that were written before there was a cancellation don't."""
    try:
        return "cancellation" in inspect.signature(execute).parameters
    except (TypeError, ValueError):
        return False


def check_executors(one: Implementation, answer: Any) -> Mapping[Kind, Executor]:
    """Return what a plugin offers to run; raises `PluginError` for what is no executor."""
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
