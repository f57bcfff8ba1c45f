"""What runs each kind of skill, as the plugins offer it, and what a crash of one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cancellation import Cancelled
from market.model import Kind, Outcome, OutcomeKind
from market.plugin.calls import note_failed_call
from market.plugin.edge import Crashed, broken, call_outspoken
from market.plugin.functions import check_method, has_argument
from market.plugin.prints import diverted_prints
from market.plugin.values import Unfit, hold_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Executor, Target
    from market.plugin.checks import Implementation

ARGUMENTS = ("target", "args_text", "timeout_seconds")
LATER_ARGUMENT = "cancellation"


@dataclass(frozen=True, slots=True)
class PluggedExecutor:
    """The executor of a plugin: a crash, or an answer that is no outcome, is a failed call that names the plugin."""

    plugin: str
    executor: Executor

    def execute(self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation) -> Outcome:
        """Run the skill; see `market.hookspecs.Executor`."""
        execute: Callable[..., object] = self.executor.execute
        # Those that were written before there was a cancellation don't take it.
        more = {LATER_ARGUMENT: cancellation} if has_argument(execute, LATER_ARGUMENT) else {}
        try:
            with diverted_prints():
                return call_outspoken(lambda: hold_outcome(execute(target, args_text, timeout_seconds, **more)))
        except Crashed as crash:
            if isinstance(crash.__cause__, Cancelled) and cancellation.why:
                raise Cancelled(cancellation.why) from crash
            return self._fail(f"crashed when it ran {target.key}: {crash}", crash.__cause__)
        except Unfit as unfit:
            return self._fail(f"ran {target.key} and gave {unfit}")

    def _fail(self, what: str, cause: BaseException | None = None) -> Outcome:
        text = f"the plugin {self.plugin} {what}"
        note_failed_call(text, cause)
        return Outcome(OutcomeKind.FAILED, error=text)


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
        try:
            check_method(executor, "execute", ARGUMENTS, LATER_ARGUMENT)
        except Unfit as unfit:
            raise broken(one.plugin, f"{one.hook} gave as the executor of {kind} skills {unfit}") from None
    return offered
