"""Run a python skill: in a worker of its pack's tree, under the same rules as a command. The processes are `workers.py`'s."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from market.cancellation import NEVER, Cancelled
from market.errors import InvalidInput
from market.model import Outcome, OutcomeKind
from market.pack.entry_python import split_python_entry
from market.run.environment import child_environment
from market.run.judge import describe_cancelled, judge_output
from market.run.lacking_code import explain
from market.run.limits import STDERR_IN_ERROR_CHARACTERS
from market.run.worker_reply import OK, WorkerLate, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Target
    from market.model import Command
    from market.run.worker_link import Worker
    from market.run.worker_reply import Reply
    from market.run.workers import Workers


class PythonExecutor:
    """The executor of python skills. `environ` is what `env_allow` chooses from: the host's own environment."""

    def __init__(self, workers: Workers, environ: Mapping[str, str]) -> None:
        self._workers = workers
        self._environ = environ

    def execute(
        self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation = NEVER
    ) -> Outcome:
        """Run the skill; see `market.run.executor.Executor`. The time of a call begins when its worker is up."""
        command = target.skill.command
        entry = split_python_entry(command.entry) if command else None
        if command is None or entry is None:
            raise InvalidInput(f"{target.key} names no function, so there is nothing to run")
        request = _request(target, command, entry, child_environment(command.env_allow, self._environ), timeout_seconds)
        started = time.monotonic()
        worker: Worker | None = None
        try:
            with self._workers.crew(target).borrow(cancellation) as worker:
                if lack := worker.hello.offers.get(target.skill.name):
                    missing = explain(target, lack.why)
                    return _failed(
                        f"{target.pack} declares the skill {target.skill.name}, but its code doesn't have it: {missing}",
                        worker,
                        started,
                    )
                reply = _call(worker, request, args_text, timeout_seconds, cancellation)
                return _judge(target, reply, worker, started)
        except WorkerLate:
            return _failed(f"timed out after {timeout_seconds:g} s", worker, started, OutcomeKind.TIMEOUT)
        except Cancelled as cancelled:
            if worker is None:
                raise
            return _failed(describe_cancelled(str(cancelled)), worker, started, OutcomeKind.CANCELLED)
        except WorkerLost as lost:
            return _failed(f"the worker of {target.pack} ended in the middle of the call: {lost}", worker, started)


def _request(
    target: Target, command: Command, entry: tuple[str, str], environment: Mapping[str, str], timeout_seconds: float
) -> dict[str, Any]:
    folder = target.skill.folder
    context = {"pack": target.pack, "version": target.version, "folder": folder, "timeout_seconds": timeout_seconds}
    return {"key": target.skill.name, "target": entry, "folder": folder, "environment": environment, "context": context}


def _call(
    worker: Worker, request: dict[str, Any], args_text: str, timeout_seconds: float, cancellation: Cancellation
) -> Reply:
    """Make the call; raises `Cancelled` for one that was cancelled, also if it has just answered: its worker is killed by then."""
    with cancellation.on_cancel(worker.interrupt):
        try:
            reply = worker.call(request, args_text, timeout_seconds)
        except WorkerLost:
            cancellation.check()
            raise
    cancellation.check()
    return reply


def _judge(target: Target, reply: Reply, worker: Worker, started: float) -> Outcome:
    if reply.header.kind != OK:
        return _failed(explain(target, reply.header.error), worker, started)
    kind, error, value, text = judge_output(reply.body)
    if kind is not OutcomeKind.OK:
        return _failed(error, worker, started)
    stderr, truncated = worker.take_stderr()
    return Outcome(kind, value, text, duration_ms=_since(started), stderr=stderr, truncated=truncated)


def _failed(error: str, worker: Worker | None, started: float, kind: OutcomeKind = OutcomeKind.FAILED) -> Outcome:
    stderr, truncated = worker.take_stderr() if worker else ("", False)
    if stderr.strip():
        error = f"{error}\nstderr: {stderr.strip()[-STDERR_IN_ERROR_CHARACTERS:]}"
    return Outcome(kind, error=error, duration_ms=_since(started), stderr=stderr, truncated=truncated)


def _since(started: float) -> float:
    return (time.monotonic() - started) * 1000
