"""A host whose callers go away, and that is asked to stop while calls run."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, cast

import pytest
import requests

from market.errors import Unavailable
from market.host.open_calls import OpenCalls
from market.host.open_work import OpenWork
from market.model import Call, Caller, Outcome, OutcomeKind, Role
from tests.host.hosts import HostUnderTest, start_host
from tests.registry.trees import a_command_folder, write_tree
from tests.run.python_packs import wait_until
from tests.run.test_tree import is_running
from tests.wheels import code_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from starlette.requests import Request

    from market.cancellation import Cancellation
    from market.run.invoke import Invoker

flow = pytest.mark.flow

LONG = "#!/bin/sh\necho $$ > pid.new; mv pid.new pid\nsleep 61 & wait\n"
STUBBORN = "#!/bin/sh\ntrap '' TERM\necho $$ > pid.new; mv pid.new pid\nwhile :; do sleep 0.1; done\n"
LONG_PYTHON = "import os, time\ndef echo_py(params):\n    open(params['pid'], 'w').write(str(os.getpid()))\n    time.sleep(61)\n"


def furnish(root: Path) -> None:
    for name, script in (("long", LONG), ("stubborn", STUBBORN), ("quick", "#!/bin/sh\nsleep 0.5; echo 1\n")):
        a_command_folder(root / name, timeout_seconds=86_400)
        write_tree(root / name, {"run.sh": script})
    write_tree(root / "demo-pack", code_files(LONG_PYTHON))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostUnderTest]:
    with start_host(tmp_path, fill=furnish, more={"MARKET_HOST_STOP_GRACE_SECONDS": "1"}) as running:
        yield running


def begin(host: HostUnderTest, key: str, params: object = None) -> threading.Thread:
    """Make a call and wait until it runs; it's without an answer."""

    def call() -> None:
        try:
            host.execute(key, params or {})
        except requests.ConnectionError:
            return

    thread = threading.Thread(target=call)
    thread.start()
    wait_until((host.root / key / "pid").exists)
    return thread


def rows(host: HostUnderTest) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(host.home / "market" / "audit.db")) as database:
        return database.execute("SELECT tool_name, outcome, error FROM chat_tool_calls ORDER BY seq").fetchall()


@flow
@pytest.mark.parametrize("key", ["long", "echo_py"])
def test_a_call_whose_caller_goes_away_ends_and_is_audited_as_cancelled(host: HostUnderTest, key: str) -> None:
    pid = host.root / "long" / "pid" if key == "long" else host.home / "pid"
    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(host.execute, "quick", {})
        with pytest.raises(requests.Timeout):
            requests.post(
                f"{host.url}/v1/skills/{key}/execute", json={"params": {"pid": str(pid)}},
                headers={"Authorization": f"Bearer {host.roles['admin']}"}, timeout=1,
            )  # fmt: skip
        assert other.result().json()["result"] == 1
    host.wait_for(lambda: _rows_of(host, key))
    (row,) = _rows_of(host, key)
    assert row["outcome"] == "cancelled"
    assert row["error"].startswith("cancelled, since its caller went away; a part of its work may be done")
    assert row["duration_ms"] < 3000
    assert pid.exists() and not is_running(pid)


def _rows_of(host: HostUnderTest, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = host.get(f"/v1/audit?tool={key}&outcome=cancelled")["items"]
    return found


@flow
def test_a_stopped_host_gives_its_calls_the_grace_then_cancels_and_audits_them(host: HostUnderTest) -> None:
    calls = [begin(host, "long"), begin(host, "stubborn")]
    quick = threading.Thread(target=host.execute, args=("quick", {}))
    quick.start()
    time.sleep(0.2)
    started = time.monotonic()
    host.process.terminate()
    assert host.process.wait(20) == 0
    assert 1 <= time.monotonic() - started < 1 + 2 + 3, "the grace, what it takes to kill, and some"
    for thread in (*calls, quick):
        thread.join()
    assert sorted((name, outcome) for name, outcome, _ in rows(host)) == [("long", "cancelled"), ("quick", "ok"), ("stubborn", "cancelled")]
    assert {error.partition(";")[0] for _, outcome, error in rows(host) if outcome == "cancelled"} == {"cancelled, since the host was stopped"}
    assert not is_running(host.root / "long/pid") and not is_running(host.root / "stubborn/pid")


@flow
def test_a_second_interrupt_ends_the_grace(tmp_path: Path) -> None:
    with start_host(tmp_path, fill=furnish, more={"MARKET_HOST_STOP_GRACE_SECONDS": "60"}) as host:
        call = begin(host, "long")
        started = time.monotonic()
        host.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert is_running(host.root / "long/pid"), "the first one waits"
        host.process.send_signal(signal.SIGINT)
        assert host.process.wait(20) == 0
        assert time.monotonic() - started < 3
        call.join()
        assert [row[:2] for row in rows(host)] == [("long", "cancelled")]


@flow
def test_a_third_interrupt_waits_for_nothing(tmp_path: Path) -> None:
    with start_host(tmp_path, fill=furnish, more={"MARKET_HOST_STOP_GRACE_SECONDS": "60"}) as host:
        call = begin(host, "stubborn")
        started = time.monotonic()
        for _ in range(3):
            host.process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        assert host.process.wait(20) == 0
        assert time.monotonic() - started < 1.8, "less than the skill has between TERM and KILL"
        call.join()
        wait_until(lambda: not is_running(host.root / "stubborn/pid"))


CALL = Call("tested", {}, Caller(1, "ada", Role.ADMIN), "http")


class FakeInvoker:
    """Ends when its call is cancelled, or is told to."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def invoke(self, _: Call, cancellation: Cancellation) -> Outcome:
        with cancellation.on_cancel(self.may_end.set):
            self.may_end.wait(5)
        return Outcome(OutcomeKind.CANCELLED if cancellation.why else OutcomeKind.OK, error=cancellation.why)


class FakeRequest:
    """Its sender goes away when it is told to."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> dict[str, str]:
        await self.gone.wait()
        return {"type": "http.disconnect"}


def outcome_of(act: Any, grace_seconds: float = 60) -> Outcome:
    """Make a call, do something while it runs, and return what came of it."""

    async def main() -> Outcome:
        invoker, request = FakeInvoker(), FakeRequest()
        with ThreadPoolExecutor(1) as threads:
            work = OpenWork(grace_seconds)
            made = asyncio.ensure_future(OpenCalls(cast("Invoker", invoker), threads, work).make(cast("Request", request), CALL))
            await asyncio.sleep(0)
            act(work, invoker, request)
            return await asyncio.wait_for(made, 3)

    return asyncio.run(main())


def test_a_call_ends_by_itself_or_when_its_caller_goes_or_when_the_host_stops() -> None:
    assert outcome_of(lambda work, invoker, request: invoker.may_end.set()).kind is OutcomeKind.OK
    assert outcome_of(lambda work, invoker, request: request.gone.set()).error == "its caller went away"
    assert outcome_of(lambda work, invoker, request: work.stop(), 0.01).error == "the host was stopped"
    assert outcome_of(lambda work, invoker, request: (work.stop(), work.stop())).error == "the host was stopped"


def test_a_host_that_stops_takes_no_more_calls() -> None:
    async def main() -> None:
        with ThreadPoolExecutor(1) as threads:
            work = OpenWork(60)
            work.stop()
            with pytest.raises(Unavailable, match="the host is stopping"):
                await OpenCalls(cast("Invoker", FakeInvoker()), threads, work).make(cast("Request", FakeRequest()), CALL)

    asyncio.run(main())
