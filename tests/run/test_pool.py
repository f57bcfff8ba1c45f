"""Supervisors are reused, bounded in number, replaced when they die, and end with their host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.errors import Unavailable
from market.model import Outcome, OutcomeKind
from market.run.command import CommandExecutor
from market.run.pool import SupervisorPool
from market.run.supervision import Request, Supervisor, SupervisorDied
from tests.run.live import a_script_skill
from tests.run.test_tree import is_running

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.registry.live import LiveSkill

pytestmark = pytest.mark.flow

PARENT = "#!/bin/sh\necho $PPID\n"
SLEEPER = "#!/bin/sh\necho $$ > pid.new; mv pid.new pid\nsleep 60\n"


def test_one_supervisor_serves_many_calls(tmp_path: Path) -> None:
    with SupervisorPool() as pool:
        pool.warm()
        executor = CommandExecutor(pool, {})
        skill = a_script_skill(tmp_path, PARENT)
        assert len({executor.execute(skill, "{}", 5).result for _ in range(5)}) == 1
        assert (pool.load().calls, pool.load().running, pool.load().replaced) == (5, 0, 0)


def test_calls_from_many_threads_stay_within_the_size_and_the_wait_is_counted(tmp_path: Path) -> None:
    with SupervisorPool(size=2) as pool:
        executor = CommandExecutor(pool, {})
        skill = a_script_skill(tmp_path, "#!/bin/sh\nsleep 0.2\necho $PPID\n")
        outcomes = run_together([lambda: executor.execute(skill, "{}", 5)] * 6)
        assert len({outcome.result for outcome in outcomes}) == 2
        assert all(outcome.kind is OutcomeKind.OK for outcome in outcomes)
        assert pool.load().queue_seconds > 0.5
        assert max(outcome.duration_ms for outcome in outcomes) > 550


def test_a_call_that_finds_no_free_supervisor_in_time_says_so(tmp_path: Path) -> None:
    with SupervisorPool(size=1, queue_seconds=0.1) as pool:
        executor = CommandExecutor(pool, {})
        busy = threading.Thread(target=executor.execute, args=(a_script_skill(tmp_path, "#!/bin/sh\nsleep 1\necho 1\n"), "{}", 5))
        busy.start()
        while not pool.load().running:
            time.sleep(0.005)
        with pytest.raises(Unavailable, match="all 1 supervisors were busy"):
            executor.execute(a_script_skill(tmp_path, PARENT, name="other"), "{}", 5)
        busy.join()


def test_a_supervisor_that_dies_under_a_call_fails_it_and_is_replaced(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        executor = CommandExecutor(pool, {})
        outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho $$ > pid; sleep 0.5; kill -KILL $PPID; sleep 60\n"), "{}", 5)
        assert outcome.kind is OutcomeKind.FAILED
        assert "the supervisor ended during the call" in outcome.error
        assert pool.load().replaced == 1
        wait_until_gone(tmp_path / "pack/pid")
        assert executor.execute(a_script_skill(tmp_path, PARENT), "{}", 5).kind is OutcomeKind.OK


def test_a_supervisor_that_is_asked_to_end_kills_its_calls_tree_first(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        # The signals keep coming while it kills: none of them may cut that short.
        script = (
            "#!/bin/sh\nfor number in 1 2 3 4 5 6 7 8 9; do setsid sleep 61 & echo $! > orphan$number; done\n"
            "setsid sh -c 'while kill -TERM '$PPID'; do :; done' & sleep 60\n"
        )
        outcome = CommandExecutor(pool, {}).execute(a_script_skill(tmp_path, script), "{}", 50)
        assert outcome.kind is OutcomeKind.FAILED
        assert not [number for number in range(1, 10) if is_running(tmp_path / f"pack/orphan{number}")]


def test_a_supervisor_that_died_while_idle_is_not_noticed_by_the_next_call(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        executor = CommandExecutor(pool, {})
        skill = a_script_skill(tmp_path, PARENT)
        pid = int(str(executor.execute(skill, "{}", 5).result))
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        outcome = executor.execute(skill, "{}", 5)
        assert (outcome.kind, outcome.result != pid) == (OutcomeKind.OK, True)


def test_closing_kills_what_runs_and_refuses_what_comes(tmp_path: Path) -> None:
    pool = SupervisorPool(size=2)
    executor = CommandExecutor(pool, {})
    outcomes: list[Outcome] = []
    skill = a_script_skill(tmp_path, SLEEPER)
    call = threading.Thread(target=lambda: outcomes.append(executor.execute(skill, "{}", 60)))
    call.start()
    wait_for_file(tmp_path / "pack/pid")
    pool.close()
    call.join(5)
    assert outcomes[0].kind is OutcomeKind.FAILED
    assert not is_running(tmp_path / "pack/pid")
    with pytest.raises(Unavailable, match="the host is stopping"):
        executor.execute(skill, "{}", 5)
    pool.close()


HOST = """
import sys, threading
from pathlib import Path
from market.run.command import CommandExecutor
from market.run.pool import SupervisorPool
from tests.run.live import a_script_skill
pool = SupervisorPool()
skill = a_script_skill(Path(sys.argv[1]), "#!/bin/sh\\necho $PPID > parent; setsid sleep 61 & echo $! > orphan\\n"
    "echo $$ > pid.new; mv pid.new pid\\nsleep 60\\n")
CommandExecutor(pool, {}).execute(skill, "{}", 60)
"""


def test_a_host_that_is_killed_takes_supervisor_and_skill_with_it(tmp_path: Path) -> None:
    host = subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path)], cwd=Path(__file__).parents[2])
    try:
        wait_for_file(tmp_path / "pack/pid")
        assert is_running(tmp_path / "pack/parent")
    finally:
        host.kill()
        host.wait()
    for name in ("pid", "parent", "orphan"):
        wait_until_gone(tmp_path / "pack" / name)


def test_a_supervisor_outlives_the_thread_that_started_it(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        executor = CommandExecutor(pool, {})
        skill = a_script_skill(tmp_path, PARENT)
        first = run_together([lambda: executor.execute(skill, "{}", 5)])[0].result
        time.sleep(0.1)
        assert executor.execute(skill, "{}", 5).result == first


def test_an_interpreter_that_cannot_start_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(Unavailable, match="can't start a supervisor"):
        Supervisor()


def test_a_closed_supervisor_refuses_a_call(tmp_path: Path) -> None:
    supervisor = Supervisor()
    assert supervisor.is_alive()
    supervisor.close()
    assert not supervisor.is_alive()
    with pytest.raises(SupervisorDied):
        supervisor.run(a_request(a_script_skill(tmp_path, PARENT)), 0)


def a_request(skill: LiveSkill) -> Request:
    return Request(skill.skill.folder.encode(), b"./run.sh", {}, b"{}", 5)


def run_together(calls: list[Callable[[], Outcome]]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    threads = [threading.Thread(target=lambda call=call: outcomes.append(call())) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def wait_for_file(path: Path) -> None:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def wait_until_gone(pid_file: Path) -> None:
    deadline = time.monotonic() + 5
    while is_running(pid_file):
        assert time.monotonic() < deadline, f"{pid_file.name} still runs"
        time.sleep(0.01)
