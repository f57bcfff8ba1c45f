from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from market.disk.lock import lock_file
from market.errors import NotFound, Unavailable

HOLD = """
import sys
from pathlib import Path
from market.disk.lock import lock_file
with lock_file(Path(sys.argv[1]), 5):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_holder_is_named_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Unavailable, match=f"process {holder.pid}") as caught, lock_file(path, 0.1):
            pass
        assert caught.value.details["pid"] == holder.pid
        holder.kill()
        holder.wait()
        with lock_file(path, 0):
            assert path.read_text().split() == [str(os.getpid())]


def test_threads_wait_for_each_other(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        with lock_file(tmp_path / "lock", 10):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_a_lock_is_made_in_folders_only(tmp_path: Path) -> None:
    with pytest.raises(NotFound), lock_file(tmp_path / "nowhere" / "lock", 0):
        pass
