"""The demo of the README: what its last line promises."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.flows.processes import REPOSITORY

pytestmark = pytest.mark.flow

DEMO_SECONDS = 90
LIVE_MILLISECONDS = 2_000


def test_the_demo_walks_the_whole_road() -> None:
    done = subprocess.run(
        [REPOSITORY / "scripts/demo", "--json"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=DEMO_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["ok"] is True
    assert seen["host_pid_before"] == seen["host_pid_after"]
    assert 0 < seen["live_ms"] < LIVE_MILLISECONDS
    assert "build" not in seen["result_before"]["kernel"] and "build" in seen["result_after"]["kernel"]
    assert "host_facts" not in seen["skills_after_uninstall"]
