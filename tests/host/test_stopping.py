"""A host, and a command, that are asked to stop while a change waits for an index that never answers: nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from market.cli.report import INTERRUPTED
from market.errors import Unavailable
from market.host import open_changes
from market.host.open_changes import ChangeThreads, OpenChanges
from market.host.open_work import OpenWork
from tests.host.hosts import MARKET, HostUnderTest, environment, start_host
from tests.run.python_packs import wait_until
from tests.wheels import a_code_wheel, write_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.cancellation import Cancellation

flow = pytest.mark.flow

GRACE = {"MARKET_HOST_STOP_GRACE_SECONDS": "1"}


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of an index that takes a connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/simple"


def uv_of(url: str) -> list[str]:
    """The programs uv that run for this index."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name, environ = (process / "comm").read_text().strip(), (process / "environ").read_bytes()
        except OSError:
            continue
        if name == "uv" and url.encode() in environ:
            found.append(process.name)
    return found


def left_in(folder: Path) -> list[Path]:
    return list(folder.glob("market-uv-*"))


def more(folder: Path, silent: str) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    return {**GRACE, "UV_DEFAULT_INDEX": silent, "UV_NO_CACHE": "1", "TMPDIR": str(folder / "tmp")}


@contextmanager
def waiting_upload(host: HostUnderTest, silent: str) -> Iterator[list[requests.Response]]:
    """Upload a wheel whose dependency nobody gives, and go on when uv asks for it."""
    answers: list[requests.Response] = []

    def upload() -> None:
        try:
            answers.append(host.ask("PUT", "/v1/marketplace/upload?filename=demo_pack-1.0.0-py3-none-any.whl", data=a_code_wheel(requires=("helper",))))
        except requests.ConnectionError:
            return

    thread = threading.Thread(target=upload)
    thread.start()
    wait_until(lambda: uv_of(silent))
    yield answers
    thread.join()


@flow
def test_a_stopped_host_ends_uv_answers_audits_and_leaves_no_folder(tmp_path: Path, silent: str) -> None:
    with start_host(tmp_path, more=more(tmp_path, silent)) as host:
        with waiting_upload(host, silent) as answers:
            assert left_in(tmp_path / "tmp")
            started = time.monotonic()
            host.process.terminate()
            assert host.process.wait(20) == 0
            assert 1 <= time.monotonic() - started < 1 + 2 + 2
        (answer,) = answers
        assert (answer.status_code, answer.json()["why"]) == (503, "the host was stopped")
        assert not uv_of(silent) and not left_in(tmp_path / "tmp")
        said = host.market("audit", "--json")
        assert '"cancelled"' in said and "cancelled, since the host was stopped; uv was ended" in said


@flow
def test_uv_dies_with_a_host_that_is_killed(tmp_path: Path, silent: str) -> None:
    with start_host(tmp_path, more=more(tmp_path, silent)) as host, waiting_upload(host, silent):
        host.process.kill()
        wait_until(lambda: not uv_of(silent))
        assert host.process.wait() == -signal.SIGKILL
        host.process.returncode = 0  # whoever started it expects a clean end


@flow
def test_a_stopped_host_waits_for_no_index_of_packs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as threads:
        index = f"http://127.0.0.1:{server.getsockname()[1]}"
        with start_host(tmp_path, more={**GRACE, "MARKET_INDEX_URL": index}) as host:
            making = threads.submit(host.ask, "POST", "/v1/marketplace/install", json={"requirement": "my-pack"})
            with server.accept()[0]:
                started = time.monotonic()
                host.process.terminate()
                assert host.process.wait(20) == 0
                assert time.monotonic() - started < 1 + 2 + 2
            assert making.result().json()["why"] == "the host was stopped"
            assert "a change was given up, since the host was stopped" in host.log.read_text()
            (row,) = json.loads(host.market("audit", "--json"))["items"]
            assert (row["tool_name"], row["outcome"]) == ("marketplace_install", "failed")
            assert "ended before" in row["error"]


@flow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_an_install_that_is_ended_takes_uv_along_and_removes_its_folder(tmp_path: Path, silent: str, number: signal.Signals) -> None:
    wheel = write_wheel(tmp_path, a_code_wheel(requires=("helper",)))
    environ = environment(tmp_path, **more(tmp_path, silent))
    process = subprocess.Popen([MARKET, "install", wheel], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: uv_of(silent))
    assert left_in(tmp_path / "tmp")
    started = time.monotonic()
    process.send_signal(number)
    process.communicate(timeout=20)
    assert time.monotonic() - started < 3
    wait_until(lambda: not uv_of(silent))
    if number is signal.SIGKILL:
        return
    assert process.returncode == INTERRUPTED
    assert left_in(tmp_path / "tmp") == []


def test_a_change_ends_by_itself_or_is_cancelled_or_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_changes, "END_SECONDS", 0.01)
    may_end = threading.Event()

    def stubborn(_: Cancellation) -> str:
        may_end.wait(5)
        return "late"

    def obedient(cancellation: Cancellation) -> str:
        with cancellation.on_cancel(may_end.set):
            may_end.wait(5)
        raise Unavailable("it was ended", why=cancellation.why)

    async def main() -> None:
        threads = ChangeThreads(1)
        assert await OpenChanges(threads, OpenWork(60)).make(lambda _: "done") == "done"
        with pytest.raises(ZeroDivisionError):
            await OpenChanges(threads, OpenWork(60)).make(lambda _: str(1 / 0))
        for change, said in ((stubborn, "the change was given up"), (obedient, "it was ended")):
            work = OpenWork(0.01)
            asyncio.get_running_loop().call_soon(work.stop)
            with pytest.raises(Unavailable, match=said) as caught:
                await OpenChanges(ChangeThreads(1), work).make(change)
            assert caught.value.why == "the host was stopped"
            with pytest.raises(Unavailable, match="the host is stopping"):
                await OpenChanges(threads, work).make(change)

    asyncio.run(main())
    may_end.set()
