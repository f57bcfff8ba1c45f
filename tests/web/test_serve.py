"""The real server, as a process: `tests/web/echo_app.py` serves itself."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.flow

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 20


@contextmanager
def serving(
    port: int = 0, settings: dict[str, object] | None = None, workers: int = 1
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.web.echo_app", str(port), json.dumps(settings or {}), str(workers)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    word, url = process.stdout.readline().split()
    assert word == "ready"
    return url


def get(url: str) -> Any:
    with urllib.request.urlopen(f"{url}/healthz", timeout=WAIT_SECONDS) as answer:
        return json.load(answer)


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    # A zombie has ended; only its parent hasn't asked yet.
    return "\nState:\tZ" not in status


def wait_for_end(pids: set[int]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, f"still alive: {pids}"
        time.sleep(0.02)


def test_port_0_becomes_a_real_one_and_settings_arrive() -> None:
    with serving(settings={"data": "/x", "n": 1}) as process:
        url = url_of(process)
        answer = get(url)
        assert (answer["settings"], answer["url"]) == ({"data": "/x", "n": 1}, url)
        assert answer["pid"] != process.pid


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_stops_it_gracefully(number: signal.Signals) -> None:
    with serving() as process:
        child = get(url_of(process))["pid"]
        process.send_signal(number)
        out, err = process.communicate(timeout=WAIT_SECONDS)
        # Exactly one ready line was printed before this one.
        assert (out, process.returncode) == ("stopped\n", 0), err
        wait_for_end({child})


def test_ctrl_c_in_a_terminal_reaches_the_whole_group_and_stops_it_gracefully() -> None:
    with serving() as process:
        url_of(process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_SECONDS)
        assert (out, process.returncode, "Unexpected exit" in err) == ("stopped\n", 0, False), err


def test_a_request_under_way_gets_its_answer_though_the_app_does_not_listen_to_the_stop() -> None:
    with serving() as process, ThreadPoolExecutor(1) as threads:
        url = url_of(process)
        answer = threads.submit(lambda: urllib.request.urlopen(f"{url}/?1", timeout=WAIT_SECONDS).status)
        time.sleep(0.3)
        process.terminate()
        assert answer.result() == 200


def test_killing_the_parent_leaves_no_orphan() -> None:
    with serving(workers=2) as process:
        url = url_of(process)
        children = {get(url)["pid"] for _ in range(40)}
        process.kill()
        process.wait()
        wait_for_end(children)
        # The port is free for the next start at once.
        with serving(port=int(url.rpartition(":")[2])) as again:
            assert url_of(again) == url


def test_taken_port_is_said_and_not_shared() -> None:
    with serving() as first:
        url = url_of(first)
        with serving(port=int(url.rpartition(":")[2])) as second:
            out, _ = second.communicate(timeout=WAIT_SECONDS)
            assert (second.returncode, "Unavailable: port" in out) == (7, True)
        assert get(url)["url"] == url


def test_foreign_listener_on_the_port_is_said() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with serving(port=other.getsockname()[1]) as process:
            assert "is taken" in process.communicate(timeout=WAIT_SECONDS)[0]


def test_failure_of_the_factory_becomes_the_parents_error() -> None:
    with serving(settings={"fail": "known"}) as process:
        out, _ = process.communicate(timeout=WAIT_SECONDS)
        assert out == "Conflict: the data is of a newer version | schema 9 | upgrade\n"


def test_bug_in_the_factory_is_hidden_on_stdout_and_told_on_stderr() -> None:
    with serving(settings={"fail": "bug"}) as process:
        out, err = process.communicate(timeout=WAIT_SECONDS)
        assert out == "MarketError: the server can't start | a fault of its own | the log on stderr says which\n"
        assert "ValueError: a bug" in err
        assert process.returncode == 7
