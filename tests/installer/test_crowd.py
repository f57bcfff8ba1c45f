"""Eight processes, one root, kill -9 at any moment; and a thousand upgrades under readers. Minutes by a variable, seconds by default."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.installer.crowd import run_crowd
from tests.installer.upgrades import upgrade_under_readers

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.flow

WORKERS = 8
SECONDS = 6.0
UPGRADES = 1_000


def test_killed_processes_lose_nothing_and_tear_nothing(memory_path: Path) -> None:
    crowd = run_crowd(memory_path, WORKERS, float(os.environ.get("MARKET_TEST_CROWD_SECONDS", SECONDS)))
    print(crowd)  # noqa: T201
    assert crowd.bad == []
    assert crowd.claims > 0 and crowd.kills > WORKERS and crowd.looks > 100


def test_a_thousand_upgrades_under_readers(memory_path: Path) -> None:
    seen = upgrade_under_readers(memory_path, UPGRADES)
    for name, one in seen.items():
        print(f"{UPGRADES} upgrades, {one.looks} looks {name}: {one.mixed} mixed, {one.missing} missing")  # noqa: T201
    assert (seen["by descriptor"].mixed, seen["by descriptor"].missing) == (0, 0)
    assert seen["by path"].missing == 0
    assert all(one.looks > UPGRADES for one in seen.values())
