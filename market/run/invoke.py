"""The one road of every call: find, validate the arguments, decide, execute, audit. Every attempt is audited, whatever came of it.

What executes is given (`market.hookspecs.Executor`), and so are the deciders; who the caller is was decided before.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from market.cancellation import NEVER, Cancelled
from market.errors import MarketError, Unavailable
from market.model import DEFAULT_TIMEOUT_SECONDS, Kind, Outcome, OutcomeKind, SkillClass, State
from market.run.args import dump_args, fill_args
from market.run.audit_row import AuditRow, bound_text
from market.run.executor import Replaced
from market.run.gate import Gate
from market.run.limits import RELOOK_PAUSE_SECONDS, RELOOK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Executor, Target
    from market.model import Call
    from market.registry.live import LiveSkill
    from market.trust.decision import Decision

    Decide = Callable[[Target, Call, Mapping[str, object]], Decision]
    Tell = Callable[[Target | None, Call, str, Outcome, datetime], None]


class Audit(Protocol):
    """Where attempts are written; `market.run.audit.AuditLog` is one."""

    def begin(self, row: AuditRow) -> int:
        """Note durably that a call is about to run; return its ticket."""

    def append(self, row: AuditRow, ticket: int | None = None) -> object:
        """Add the row of an ended call durably, and settle its ticket."""


def decide_by_gate(target: Target, call: Call, arguments: Mapping[str, object]) -> Decision:
    """Decide a call by the gate alone, where no plugins are asked."""
    return Gate().decide_run(target, call)


def tell_nobody(target: Target | None, call: Call, arguments_text: str, outcome: Outcome, at: datetime) -> None:
    """Tell nobody of a call that has ended."""


def utc_now() -> datetime:
    """Return the present time."""
    return datetime.now(UTC)


@dataclass(slots=True)
class _Attempt:
    """What is known of a call so far; it becomes the audit row."""

    call: Call
    started_at: datetime
    began: float
    args_text: str
    cancellation: Cancellation
    target: LiveSkill | None = None
    ticket: int | None = field(default=None)


class Invoker:
    """Makes calls. Safe to use from any thread.

    `refresh` is asked to look at a skill's directory again when it was replaced under the registry's snapshot;
    without it the call waits until the registry notices by itself. `decide` answers whether a call may be made, `tell` hears of
    every attempt after it was audited: the hooks `decide_run` and `skill_ran` of `market.plugins.loaded`.
    """

    def __init__(
        self,
        find: Callable[[str], LiveSkill | None],
        executors: Mapping[Kind, Executor],
        audit: Audit,
        clock: Callable[[], datetime] = utc_now,
        *,
        refresh: Callable[[LiveSkill], None] | None = None,
        relook_seconds: float = RELOOK_SECONDS,
        decide: Decide = decide_by_gate,
        tell: Tell = tell_nobody,
    ) -> None:
        self._find = find
        self._executors = executors
        self._audit = audit
        self._clock = clock
        self._refresh = refresh
        self._relook_seconds = relook_seconds
        self._decide = decide
        self._tell = tell

    def invoke(self, call: Call, cancellation: Cancellation = NEVER) -> Outcome:
        """Make one call and return its outcome, also when it is refused, fails or is cancelled.

        Raises Unavailable only when the attempt can't be audited; a mutating skill has not run then, or the message says so.
        """
        attempt = _Attempt(call, self._clock(), time.perf_counter(), _dump_given(call.params), cancellation)
        try:
            outcome = self._attempt(attempt)
        except BaseException as error:
            self._record(attempt, Outcome(OutcomeKind.FAILED, error=f"internal error: {type(error).__name__}: {error}"))
            raise
        return self._record(attempt, outcome)

    def _attempt(self, attempt: _Attempt) -> Outcome:
        deadline = time.monotonic() + self._relook_seconds
        while True:
            try:
                return self._attempt_once(attempt)
            except Replaced as replaced:
                # The pack was upgraded between the look-up and the run, and nothing has run: look it up again.
                if time.monotonic() >= deadline:
                    return _failure(OutcomeKind.FAILED, replaced)
                if self._refresh is not None and attempt.target is not None:
                    self._refresh(attempt.target)
                time.sleep(RELOOK_PAUSE_SECONDS)

    def _attempt_once(self, attempt: _Attempt) -> Outcome:
        call = attempt.call
        target = self._find(call.key)
        if target is None:
            return Outcome(OutcomeKind.UNKNOWN, error=f"there is no skill {call.key!r} here")
        attempt.target = target
        if refusal := _refuse_state(target) or _refuse_kind(target, self._executors):
            return refusal
        command = target.skill.command
        try:
            arguments = fill_args(command.schema if command else {}, call.params)
            attempt.args_text = dump_args(arguments)
        except MarketError as error:
            return _failure(OutcomeKind.INVALID, error)
        decision = self._decide(target, call, arguments)
        if not decision.allowed:
            return Outcome(OutcomeKind.DENIED, error=decision.reason)
        return self._execute(attempt, target, command.timeout_seconds if command else DEFAULT_TIMEOUT_SECONDS)

    def _execute(self, attempt: _Attempt, target: LiveSkill, timeout_seconds: float) -> Outcome:
        try:
            attempt.cancellation.check()
            if target.skill.skill_class is not SkillClass.SAFE and attempt.ticket is None:
                attempt.ticket = self._audit.begin(self._row(attempt, Outcome(OutcomeKind.FAILED)))
            executor = self._executors[target.skill.kind]
            return executor.execute(target, attempt.args_text, timeout_seconds, attempt.cancellation)
        except Replaced:
            raise
        except Cancelled as cancelled:
            return Outcome(OutcomeKind.CANCELLED, error=f"cancelled before it ran, since {cancelled}")
        except MarketError as error:
            return _failure(OutcomeKind.FAILED, error)

    def _record(self, attempt: _Attempt, outcome: Outcome) -> Outcome:
        finished = replace(outcome, duration_ms=round((time.perf_counter() - attempt.began) * 1000, 3))
        try:
            self._audit.append(self._row(attempt, finished), attempt.ticket)
        except Unavailable as error:
            if attempt.ticket is None:
                raise
            raise Unavailable(
                f"{attempt.call.key} has run ({outcome.kind}), but its audit row can't be written",
                why=error.why,
                hint=error.hint,
            ) from error
        self._tell(attempt.target, attempt.call, attempt.args_text, finished, attempt.started_at)
        return finished

    def _row(self, attempt: _Attempt, outcome: Outcome) -> AuditRow:
        call, target = attempt.call, attempt.target
        return AuditRow(
            session_id=bound_text(call.session_id),
            tool_name=bound_text(call.key),
            args_json=bound_text(attempt.args_text),
            result_json=bound_text(outcome.result_text),
            error=bound_text(outcome.error),
            device_id=bound_text(call.device_id),
            started_at=attempt.started_at.isoformat(),
            finished_at=self._clock().isoformat(),
            duration_ms=outcome.duration_ms,
            caller_user_id=call.caller.user_id,
            caller_role=call.caller.role,
            caller_name=call.caller.name,
            skill_class=target.skill.skill_class if target else "",
            road=call.road,
            outcome=outcome.kind,
            pack=target.pack if target else "",
            version=target.version if target else "",
            tree_digest=target.tree_digest if target else "",
            stderr=outcome.stderr,
        )


def _refuse_state(target: LiveSkill) -> Outcome | None:
    if target.is_runnable:
        return None
    reasons = "; ".join(problem.text + (f" ({problem.fix})" if problem.fix else "") for problem in target.problems)
    kind = OutcomeKind.DENIED if target.state in (State.HELD, State.DISABLED) else OutcomeKind.INVALID
    return Outcome(kind, error=f"{target.key} is {target.state}" + (f": {reasons}" if reasons else ""))


def _refuse_kind(target: LiveSkill, executors: Mapping[Kind, Executor]) -> Outcome | None:
    if target.skill.kind is Kind.GUIDE:
        where = "/".join(part for part in (target.unit, target.skill.folder, "SKILL.md") if part)
        return Outcome(OutcomeKind.INVALID, error=f"{target.key} is a guide: it is read, not run. Read {where}")
    if target.skill.kind not in executors:
        return Outcome(
            OutcomeKind.INVALID, error=f"{target.key} is a {target.skill.kind} skill, which nothing here can run"
        )
    return None


def _failure(kind: OutcomeKind, error: MarketError) -> Outcome:
    """Put an error into words of one line: what, why, and what to do."""
    text = error.message + (f": {error.why}" if error.why else "") + (f" ({error.hint})" if error.hint else "")
    return Outcome(kind, error=text)


def _dump_given(params: object) -> str:
    """Return what was given as text for the audit, however odd it is."""
    try:
        return json.dumps(params, default=repr)
    except (ValueError, TypeError, RecursionError):
        return json.dumps({"unreadable": type(params).__name__})
