"""Facts about this very host, compared with what Python knows by itself."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import pytest

from market.model import OutcomeKind

if TYPE_CHECKING:
    from tests.sample_packs.conftest import Runner


def test_all_facts(run: Runner) -> None:
    facts = run("host-facts", "host_facts")
    assert list(facts) == ["os", "kernel", "cpus", "memory", "disks", "load", "uptime"]
    assert facts["os"]["hostname"] == socket.gethostname()
    assert facts["kernel"]["release"] == os.uname().release
    assert facts["cpus"]["online"] == os.cpu_count()
    assert 0 < facts["memory"]["available"] <= facts["memory"]["total"]
    assert facts["uptime"]["seconds"] > 0
    assert set(facts["load"]) == {"1m", "5m", "15m", "per_cpu_5m"}


def test_disks_hold_the_root_and_make_sense(run: Runner) -> None:
    disks = run("host-facts", "host_facts", sections=["disks"])["disks"]
    assert any(disk["mount"] == "/" for disk in disks)
    assert all(0 <= disk["used_percent"] <= 100 and 0 <= disk["free"] <= disk["total"] for disk in disks)


def test_only_what_is_asked_for(run: Runner) -> None:
    assert list(run("host-facts", "host_facts", sections=["load", "os"])) == ["load", "os"]


@pytest.mark.parametrize("args", [{"sections": ["gpu"]}, {"sections": 3}, [], None])
def test_bad_arguments_get_a_sentence(run: Runner, args: Any) -> None:
    outcome = run.outcome("host-facts", "host_facts", args)
    assert (outcome.kind, outcome.exit_code) == (OutcomeKind.FAILED, 2)
    assert "host_facts: " in outcome.error
    assert "Traceback" not in outcome.error
