"""Run a command skill (skill.json): in the version of its pack that was found, to its end. The process is the supervisor's."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from market.cancellation import NEVER
from market.errors import InvalidInput
from market.model import Outcome, OutcomeKind
from market.run.entry import check_entry, explain_exec_failure, explain_exit, resolve_entry
from market.run.environment import child_environment
from market.run.judge import describe_cancelled, judge_result
from market.run.lease import lease_unit
from market.run.supervision import Request, SupervisorDied

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.cancellation import Cancellation
    from market.hookspecs import Target
    from market.model import Command
    from market.run.pool import SupervisorPool


class CommandExecutor:
    """The executor of command skills. `environ` is what `env_allow` chooses from: the host's own environment."""

    def __init__(self, pool: SupervisorPool, environ: Mapping[str, str]) -> None:
        self._pool = pool
        self._environ = environ

    def execute(
        self, target: Target, args_text: str, timeout_seconds: float, cancellation: Cancellation = NEVER
    ) -> Outcome:
        """Run the skill; see `market.run.executor.Executor`. The duration includes the wait for a free supervisor."""
        command = target.skill.command
        if command is None:
            raise InvalidInput(f"{target.key} has no skill.json, so there is nothing to run")
        started = time.monotonic()
        with lease_unit(target) as pack_fd, _open_folder(target, pack_fd) as folder_fd:
            outcome = self._run(target, command, args_text.encode(), timeout_seconds, cancellation, pack_fd, folder_fd)
        return replace(outcome, duration_ms=(time.monotonic() - started) * 1000)

    def _run(
        self,
        target: Target,
        command: Command,
        stdin: bytes,
        timeout_seconds: float,
        cancellation: Cancellation,
        pack_fd: int,
        folder_fd: int,
    ) -> Outcome:
        entry = resolve_entry(target, command)
        check_entry(target, folder_fd, entry)
        environment = child_environment(command.env_allow, self._environ)
        request = Request(
            folder=os.fsencode(target.skill.folder),
            entry=os.fsencode(entry),
            environment={os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
            stdin=stdin,
            timeout_seconds=timeout_seconds,
        )
        try:
            result = self._pool.run(request, pack_fd, cancellation)
        except SupervisorDied as died:
            if cancellation.why:
                return Outcome(OutcomeKind.CANCELLED, error=describe_cancelled(cancellation.why))
            error = f"the supervisor ended during the call ({died}); a part of its work may be done"
            return Outcome(OutcomeKind.FAILED, error=error)
        if result.failure:
            return Outcome(OutcomeKind.FAILED, error=explain_exec_failure(result.failure, folder_fd, entry))
        advice = explain_exit(result.code, folder_fd, entry, command.env_allow)
        return judge_result(result, timeout_seconds, advice, cancellation.why)


@contextmanager
def _open_folder(target: Target, pack_fd: int) -> Iterator[int]:
    """Open the skill's folder inside the leased tree, to look at its entry there."""
    try:
        descriptor = os.open(target.skill.folder or ".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=pack_fd)
    except OSError as error:
        raise InvalidInput(
            f"the folder {target.skill.folder} of {target.key} can't be opened", why=os.strerror(error.errno or 0)
        ) from error
    try:
        yield descriptor
    finally:
        os.close(descriptor)
