"""Calls whose caller goes away, of both kinds: they end with all their processes, others go on, and no harm is left behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, cast

import pytest

from market.cancellation import Cancellation, Cancelled
from market.model import OutcomeKind
from market.run.command import CommandExecutor
from market.run.crew import Crew
from market.run.pool import SupervisorPool
from market.run.python import PythonExecutor
from market.run.supervision import Supervisor
from market.run.worker_reply import Header, Reply
from market.run.workers import Workers
from tests.run.live import a_script_skill
from tests.run.python_packs import a_python_pack, processes_in, wait_until
from tests.run.test_pool import SLEEPER, a_request
from tests.run.test_tree import is_running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.hookspecs import Executor, Target
    from market.model import Outcome
    from market.run.worker_link import Worker

pytestmark = pytest.mark.flow

STUBBORN = f"""#!{sys.executable} -IS
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for name in ("one", "two"):
    if not os.fork():
        os.setsid()
        open(name, "w").write(str(os.getpid()))
        time.sleep(60)
while not (os.path.exists("one") and os.path.exists("two")):
    time.sleep(0.005)
open("pid", "w").write(str(os.getpid()))
time.sleep(60)
"""
TIDY = "#!/bin/sh\ntrap 'echo tidied > tidied; echo so far >&2; exit 0' TERM\necho $$ > pid\nwhile :; do sleep 0.02; done\n"
WAITS = (
    "import os, subprocess, time\ndef echo_py(params):\n    if params.get('wait'):\n        subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
    "        print('begun', flush=True)\n        open(params['wait'], 'w').close()\n        time.sleep(params.get('seconds', 60))\n    return os.getpid()\n"
)


class Calling:
    """A call on a thread of its own, that can be cancelled."""

    def __init__(self, executor: Executor, skill: Target, args: str = "{}") -> None:
        self.cancellation = Cancellation()
        self.outcomes: list[Outcome] = []
        self.errors: list[Exception] = []
        self._thread = threading.Thread(target=self._call, args=(executor, skill, args))
        self._thread.start()

    def _call(self, executor: Executor, skill: Target, args: str) -> None:
        try:
            self.outcomes.append(executor.execute(skill, args, 50, self.cancellation))
        except Exception as error:
            self.errors.append(error)

    def cancel(self) -> float:
        """Cancel it, and return the seconds until it had ended."""
        started = time.monotonic()
        self.cancellation.cancel("its caller went away")
        self._thread.join(20)
        assert not self._thread.is_alive()
        return time.monotonic() - started

    def join(self) -> Outcome:
        self._thread.join(20)
        return self.outcomes[0]


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(processes=2) as opened:
        yield opened


def waiting(tmp_path: Path, executor: Executor, skill: Target, name: str = "begun", **more: Any) -> Calling:
    """A python call that has begun and goes on."""
    args = {"wait": str(tmp_path / name), **more}
    call = Calling(executor, skill, str(args).replace("'", '"'))
    wait_until((tmp_path / name).exists)
    return call


def test_a_cancelled_command_gets_term_and_says_what_it_had_to_say(tmp_path: Path, executor: CommandExecutor) -> None:
    call = Calling(executor, a_script_skill(tmp_path, TIDY))
    wait_until((tmp_path / "pack/pid").exists)
    assert call.cancel() < 2, "it wasn't left to the deadline"
    outcome = call.join()
    assert outcome.kind is OutcomeKind.CANCELLED and outcome.stderr.endswith("so far\n")
    assert outcome.error.startswith("cancelled, since its caller went away; a part of its work may be done")
    assert (tmp_path / "pack/tidied").exists()


def test_a_cancelled_command_whose_children_ignore_term_leaves_no_process(tmp_path: Path, executor: CommandExecutor) -> None:
    call = Calling(executor, a_script_skill(tmp_path, STUBBORN))
    wait_until((tmp_path / "pack/pid").exists)
    call.cancel()
    assert call.join().kind is OutcomeKind.CANCELLED
    assert not any(is_running(tmp_path / "pack" / name) for name in ("pid", "one", "two"))


def test_the_supervisor_of_a_cancelled_command_serves_the_next_call(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        executor = CommandExecutor(pool, {})
        first = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho $PPID\n", name="other"), "{}", 5).result
        call = Calling(executor, a_script_skill(tmp_path, TIDY))
        wait_until((tmp_path / "pack/pid").exists)
        call.cancel()
        assert executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho $PPID\n", name="other"), "{}", 5).result == first
        assert pool.load().replaced == 0


def test_a_cancellation_that_comes_after_the_end_does_not_reach_the_next_call(tmp_path: Path) -> None:
    supervisor = Supervisor()
    skill = a_script_skill(tmp_path, "#!/bin/sh\nsleep 0.1; echo 1\n")
    descriptor = os.open(tmp_path / "pack", os.O_RDONLY)
    try:
        for _ in range(3):
            result = supervisor.run(a_request(skill), descriptor)
            assert (result.stdout, result.cancelled) == (b"1\n", False)
            supervisor._cancel()
    finally:
        os.close(descriptor)
        supervisor.close()


def test_a_command_that_waits_for_a_supervisor_never_starts(tmp_path: Path) -> None:
    with SupervisorPool(size=1) as pool:
        executor = CommandExecutor(pool, {})
        busy = Calling(executor, a_script_skill(tmp_path, SLEEPER))
        wait_until((tmp_path / "pack/pid").exists)
        second = Calling(executor, a_script_skill(tmp_path, "#!/bin/sh\necho > ran\necho 1\n", name="second"))
        wait_until(lambda: pool.load().waiting == 1)
        assert second.cancel() < 1
        assert isinstance(second.errors[0], Cancelled)
        assert pool.load().waiting == 0
        busy.cancel()
        assert executor.execute(a_script_skill(tmp_path, "#!/bin/sh\necho 2\n", name="third"), "{}", 5).result == 2
    assert not (tmp_path / "second/ran").exists()


def test_a_cancelled_python_call_ends_with_its_worker_and_its_children_while_another_goes_on(tmp_path: Path, workers: Workers) -> None:
    executor = PythonExecutor(workers, {"PATH": "/usr/bin:/bin"})
    skill = a_python_pack(tmp_path, WAITS)
    other = waiting(tmp_path, executor, skill, "other", seconds=0.8)
    (kept,) = workers.pids()
    call = waiting(tmp_path, executor, skill)
    assert call.cancel() < 0.7
    outcome = call.join()
    assert (outcome.kind, outcome.stderr) == (OutcomeKind.CANCELLED, "begun\n")
    assert outcome.error.startswith("cancelled, since its caller went away; a part of its work may be done")
    assert workers.pids() == (kept,)
    assert other.join().kind is OutcomeKind.OK
    wait_until(lambda: len(processes_in(tmp_path / "demo-pack")) == 1)


def test_twenty_cancellations_in_a_row_are_no_crashes(tmp_path: Path, workers: Workers) -> None:
    executor = PythonExecutor(workers, {"PATH": "/usr/bin:/bin"})
    skill = a_python_pack(tmp_path, WAITS)
    for number in range(20):
        call = waiting(tmp_path, executor, skill, f"begun-{number}")
        call.cancel()
        assert call.join().kind is OutcomeKind.CANCELLED
    started = time.monotonic()
    assert executor.execute(skill, "{}", 5).kind is OutcomeKind.OK
    assert time.monotonic() - started < 0.5, "it didn't wait for a pause to pass"


def test_a_call_that_waits_for_a_worker_is_never_made(tmp_path: Path) -> None:
    with Workers(processes=1) as workers:
        executor = PythonExecutor(workers, {"PATH": "/usr/bin:/bin"})
        skill = a_python_pack(tmp_path, WAITS)
        busy = waiting(tmp_path, executor, skill, seconds=1)
        second = Calling(executor, skill, f'{{"wait": "{tmp_path}/second"}}')
        time.sleep(0.1)
        assert second.cancel() < 0.5
        assert isinstance(second.errors[0], Cancelled)
        assert busy.join().kind is OutcomeKind.OK
    assert not (tmp_path / "second").exists()


def test_a_worker_that_is_being_started_for_a_cancelled_call_is_killed_and_nobody_is_blamed(tmp_path: Path, workers: Workers) -> None:
    slow = f"import os, time\nif os.path.exists({str(tmp_path / 'slow')!r}):\n    open({str(tmp_path / 'starts')!r}, 'w').close()\n    time.sleep(20)\n"
    skill = a_python_pack(tmp_path, slow + "def echo_py():\n    return 1\n")
    (tmp_path / "slow").touch()
    executor = PythonExecutor(workers, {})
    for _ in range(3):
        call = Calling(executor, skill)
        wait_until((tmp_path / "starts").exists)
        (tmp_path / "starts").unlink()
        assert call.cancel() < 2
        assert isinstance(call.errors[0], Cancelled)
    wait_until(lambda: not processes_in(tmp_path / "demo-pack"))
    assert not any(code.faults for code in workers._list())
    (tmp_path / "slow").unlink()
    assert executor.execute(skill, "{}", 5).result == 1


def test_closing_the_workers_breaks_off_a_start(tmp_path: Path) -> None:
    skill = a_python_pack(tmp_path, f"import time\nopen({str(tmp_path / 'starts')!r}, 'w').close()\ntime.sleep(20)\n")
    workers = Workers()
    call = Calling(PythonExecutor(workers, {}), skill)
    wait_until((tmp_path / "starts").exists)
    started = time.monotonic()
    workers.close()
    assert time.monotonic() - started < 2
    assert not processes_in(tmp_path / "demo-pack")
    call._thread.join(5)
    assert "the workers were stopped" in call.errors[0].why  # type: ignore[attr-defined]


class AnswersJustThen:
    """A worker whose answer comes at the very moment at which its call is cancelled; it is also the crews' keeper."""

    pid = 1
    last_used = 0.0
    hello = Header("hello", 0, 0)

    def __init__(self, cancellation: Cancellation) -> None:
        self.cancellation = cancellation
        self.ended: list[str] = []
        self._crew = Crew("demo-pack", lambda _: cast("Worker", self), 1)

    def crew(self, _: Target) -> Crew:
        return self._crew

    def call(self, *_: object) -> Reply:
        self.cancellation.cancel("its caller went away")
        return Reply(Header("ok", 1, 1), b"1")

    def take_stderr(self) -> tuple[str, bool]:
        return "", False

    def interrupt(self) -> None:
        self.ended.append("interrupt")

    def kill(self) -> None:
        self.ended.append("kill")


def test_a_worker_that_answers_while_it_is_killed_serves_nobody_any_more(tmp_path: Path) -> None:
    cancellation = Cancellation()
    worker = AnswersJustThen(cancellation)
    outcome = PythonExecutor(cast("Workers", worker), {}).execute(a_python_pack(tmp_path, WAITS), "{}", 5, cancellation)
    assert (outcome.kind, worker.ended, worker._crew.has_workers) == (OutcomeKind.CANCELLED, ["interrupt", "kill"], False)
