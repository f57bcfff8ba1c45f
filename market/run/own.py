"""What Market itself puts behind the hooks of running: the gate's decision, and the executors of commands and python skills."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.model import Kind
from market.run.command import CommandExecutor
from market.run.gate import Gate
from market.run.python import PythonExecutor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.hookspecs import Executor
    from market.run.pool import SupervisorPool
    from market.run.workers import Workers


class OwnExecutors:
    """Market's executors over one pool of supervisors and the workers of wheel packs, which the caller closes."""

    def __init__(self, pool: SupervisorPool, workers: Workers) -> None:
        self._pool = pool
        self._workers = workers

    @hookimpl
    def register_executors(self, environment: Mapping[str, str]) -> Mapping[Kind, Executor]:
        """Run commands and python skills; `environment` is what a skill's `env_allow` chooses from."""
        return {
            Kind.COMMAND: CommandExecutor(self._pool, environment),
            Kind.PYTHON: PythonExecutor(self._workers, environment),
        }


def own_running(pool: SupervisorPool, workers: Workers) -> dict[str, object]:
    """Return Market's own implementations by name, for `load_plugins`."""
    return {"market-gate": Gate(), "market-executors": OwnExecutors(pool, workers)}
