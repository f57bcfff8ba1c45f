"""A call and an upgrade at the same time: the call runs in one version to its end, or is looked up again."""

from __future__ import annotations

import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest

from market.disk.lease import is_leased
from market.run.executor import Replaced
from tests.run.live import a_live_skill, write_script

if TYPE_CHECKING:
    from pathlib import Path

    from market.model import Outcome
    from market.run.command import CommandExecutor

LATE = "#!/bin/sh\n: > started\nwhile [ ! -e ../go ]; do sleep 0.01; done\n. ./version.sh\n"


def a_version(path: Path, number: int) -> Path:
    """A tree whose entry waits, and only then sources a second file."""
    write_script(path / "run.sh", LATE)
    write_script(path / "version.sh", f"echo {number}\n")
    return path


def exchange(live: Path, new: Path) -> Path:
    """Put the new tree in place by two renames; return where the old one went."""
    old = live.with_name("retired")
    live.rename(old)
    new.rename(live)
    return old


def test_a_call_that_started_before_an_upgrade_finishes_in_the_old_version(tmp_path: Path, executor: CommandExecutor) -> None:
    unit = a_version(tmp_path / "pack", 1)
    skill = a_live_skill(unit)
    outcomes: list[Outcome] = []
    call = threading.Thread(target=lambda: outcomes.append(executor.execute(skill, "{}", 20)))
    call.start()
    wait_for(unit / "started")
    old = exchange(unit, a_version(tmp_path / "new", 2))
    assert is_leased(old)
    (tmp_path / "go").touch()
    call.join()
    assert outcomes[0].result == 1
    assert not is_leased(old)
    assert executor.execute(a_live_skill(unit), "{}", 20).result == 2


def test_a_skill_whose_directory_was_replaced_is_not_run(tmp_path: Path, executor: CommandExecutor) -> None:
    unit = a_version(tmp_path / "pack", 1)
    skill = a_live_skill(unit)
    exchange(unit, a_version(tmp_path / "new", 2))
    with pytest.raises(Replaced, match="replaced or removed"):
        executor.execute(skill, "{}", 5)
    assert not (unit / "started").exists()


def test_a_skill_whose_directory_is_gone_is_not_run(tmp_path: Path, executor: CommandExecutor) -> None:
    skill = a_live_skill(a_version(tmp_path / "pack", 1))
    shutil.rmtree(tmp_path / "pack")
    with pytest.raises(Replaced):
        executor.execute(skill, "{}", 5)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)
