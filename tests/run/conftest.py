"""One warm pool for all tests of this room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.run.command import CommandExecutor
from market.run.pool import SupervisorPool

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRON = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/somebody", "SECRET": "s3", "MARKET_TOKEN": "skm_x"}


@pytest.fixture(scope="session")
def pool() -> Iterator[SupervisorPool]:
    with SupervisorPool(size=2) as opened:
        yield opened


@pytest.fixture
def executor(pool: SupervisorPool) -> CommandExecutor:
    return CommandExecutor(pool, ENVIRON)
