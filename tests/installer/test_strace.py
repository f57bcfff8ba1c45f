"""A slice of `scripts/faults`: system calls of every kind of work fail or are the last, and nothing is lost or left."""

from __future__ import annotations

import os

import pytest

from tests.installer.strace_faults import SCENES, choose_points, prepared_faults, why_not

pytestmark = pytest.mark.flow

POINTS = 60
WORKERS = 2


def test_any_system_call_may_fail_or_be_the_last() -> None:
    if why := why_not():
        pytest.skip(why)
    with prepared_faults() as faults:
        every = faults.list_points()
        points = choose_points(every, int(os.environ.get("MARKET_TEST_FAULTS", POINTS)))
        tally = faults.run(points, WORKERS)
    print(f"of {len(every)} points {tally}")  # noqa: T201
    assert {point.scene.name for point in points} == {scene.name for scene in SCENES}
    assert tally.bad == []
    assert len(tally.missed) <= len(points) // 20
