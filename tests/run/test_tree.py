"""No process of a call survives it, and none can hold it up: timeouts, daemons, escapes by setsid and double fork."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.model import OutcomeKind
from tests.run.live import a_script_skill

if TYPE_CHECKING:
    from market.run.command import CommandExecutor

pytestmark = pytest.mark.flow

PYTHON = f"#!{sys.executable} -IS\n"

# Leaves the session, then double-forks, keeps stdout and notes its process id.
DAEMON = f"""{PYTHON}import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        open("daemon.pid", "w").write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
while not (os.path.exists("daemon.pid") and os.path.getsize("daemon.pid")):
    time.sleep(0.005)
"""


def is_running(pid_file: Path) -> bool:
    """Whether the process noted in the file exists and isn't a zombie."""
    try:
        status = Path(f"/proc/{pid_file.read_text().strip()}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_a_daemon_that_holds_stdout_neither_hangs_nor_survives_the_call(
    tmp_path: Path, executor: CommandExecutor
) -> None:
    started = time.monotonic()
    outcome = executor.execute(a_script_skill(tmp_path, DAEMON + "print(7)\n"), "{}", 20)
    assert (outcome.kind, outcome.result) == (OutcomeKind.OK, 7)
    assert time.monotonic() - started < 15
    assert not is_running(tmp_path / "pack/daemon.pid")


def test_a_daemon_that_closed_its_streams_does_not_survive_either(tmp_path: Path, executor: CommandExecutor) -> None:
    script = DAEMON.replace("        time.sleep(60)", "        os.closerange(0, 3); time.sleep(60)")
    assert executor.execute(a_script_skill(tmp_path, script + "print(7)\n"), "{}", 20).result == 7
    assert not is_running(tmp_path / "pack/daemon.pid")


def test_a_timeout_kills_the_whole_tree(tmp_path: Path, executor: CommandExecutor) -> None:
    started = time.monotonic()
    outcome = executor.execute(
        a_script_skill(tmp_path, DAEMON + "import sys; print('so far', file=sys.stderr, flush=True); time.sleep(60)\n"),
        "{}",
        1,
    )
    assert (outcome.kind, outcome.error) == (OutcomeKind.TIMEOUT, "timed out after 1 s\nstderr: so far")
    assert outcome.stderr == "so far\n"
    assert 1 <= time.monotonic() - started < 20
    assert not is_running(tmp_path / "pack/daemon.pid")


def test_a_timeout_asks_first_and_the_script_may_tidy_up(tmp_path: Path, executor: CommandExecutor) -> None:
    script = "#!/bin/sh\ntrap 'echo tidied > tidied; exit 0' TERM\nwhile :; do sleep 0.05; done\n"
    outcome = executor.execute(a_script_skill(tmp_path, script), "{}", 0.3)
    assert outcome.kind is OutcomeKind.TIMEOUT
    assert (tmp_path / "pack/tidied").exists()


def test_the_worker_behind_a_wrapper_gets_the_grace_too(tmp_path: Path, executor: CommandExecutor) -> None:
    worker = (
        "#!/bin/sh\ntrap 'sleep 0.3; echo tidied > tidied; exit 0' TERM\necho > ready; while :; do sleep 0.05; done\n"
    )
    skill = a_script_skill(tmp_path, "#!/bin/sh\n./worker & wait\n")
    (tmp_path / "pack/worker").write_text(worker)
    (tmp_path / "pack/worker").chmod(0o755)
    assert executor.execute(skill, "{}", 0.5).kind is OutcomeKind.TIMEOUT
    assert (tmp_path / "pack/tidied").exists()


def test_who_ignores_term_is_killed_after_the_grace(tmp_path: Path, executor: CommandExecutor) -> None:
    script = f"{PYTHON}import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('pid','w').write(str(os.getpid()))\ntime.sleep(60)\n"
    started = time.monotonic()
    outcome = executor.execute(a_script_skill(tmp_path, script), "{}", 0.5)
    assert (outcome.kind, outcome.exit_code) == (OutcomeKind.TIMEOUT, -9)
    assert 2.4 < time.monotonic() - started < 20
    assert not is_running(tmp_path / "pack/pid")


def test_an_endless_writer_is_stopped_by_the_clock(tmp_path: Path, executor: CommandExecutor) -> None:
    started = time.monotonic()
    outcome = executor.execute(a_script_skill(tmp_path, "#!/bin/sh\nexec yes\n"), "{}", 0.5)
    assert outcome.kind is OutcomeKind.TIMEOUT
    assert time.monotonic() - started < 20


def test_a_filter_behind_the_entry_may_flush_its_output(tmp_path: Path, executor: CommandExecutor) -> None:
    script = "#!/bin/sh\nmkfifo pipe\n(sleep 0.1; cat) < pipe &\necho 5 > pipe\n"
    assert executor.execute(a_script_skill(tmp_path, script), "{}", 5).result == 5


def test_many_orphans_are_all_gone(tmp_path: Path, executor: CommandExecutor) -> None:
    script = "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do (setsid sleep 61.5 >/dev/null 2>&1 &); done\necho 1\n"
    assert executor.execute(a_script_skill(tmp_path, script), "{}", 10).result == 1
    assert not [name for name in os.listdir("/proc") if name.isdigit() and b"61.5" in _command_line(name)]


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
