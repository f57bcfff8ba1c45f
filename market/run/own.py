"""What Market itself puts behind the hooks of running: the gate's decision, and the executor of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.model import Kind
from market.run.command import CommandExecutor
from market.run.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.hookspecs import Executor
    from market.run.pool import SupervisorPool


class OwnExecutors:
    """Market's executors over one pool of supervisors, which the caller warms and closes."""

    def __init__(self, pool: SupervisorPool) -> None:
        self._pool = pool

    @hookimpl
    def register_executors(self, environment: Mapping[str, str]) -> Mapping[Kind, Executor]:
        """Run commands; `environment` is what a skill's `env_allow` chooses from."""
        return {Kind.COMMAND: CommandExecutor(self._pool, environment)}


def own_running(pool: SupervisorPool) -> dict[str, object]:
    """Return Market's own implementations by name, for `load_plugins`."""
    return {"market-gate": Gate(), "market-executors": OwnExecutors(pool)}
