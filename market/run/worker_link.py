"""The host's end of one worker: start it in a leased directory, exchange lines with it, end it. Which worker is free is `crew.py`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.cancellation import NEVER
from market.errors import Unavailable
from market.run import limits
from market.run.supervision import dump_rlimits
from market.run.worker_reply import HELLO, Header, Reply, WorkerLate, WorkerLost, parse_header

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.cancellation import Cancellation

_SCRIPT = Path(__file__).with_name("worker.py")
_CHUNK_BYTES = 65536
_SIGNAL_BASE = 128
_PIPES = {"_requests": True, "_replies": False, "_control": True, "_errors": False}
"""Our end of each pipe to a worker, and whether we write to it; in the order in which the script takes the other ends."""


class Worker:
    """One worker process. For one thread at a time. `label` is what the process table shows, `hello` is what its code offers."""

    def __init__(
        self,
        pack_fd: int,
        targets: Mapping[str, tuple[str, str]],
        label: str,
        memory_bytes: int,
        start_seconds: float,
        stop: Cancellation = NEVER,
    ) -> None:
        self._top = re.compile(rf"/proc/\d+/fd/{pack_fd}/")
        self._stderr = bytearray()
        self._stderr_total = 0
        self._number = 0
        self._closing = threading.Lock()
        self._start(pack_fd, label, memory_bytes)
        self.last_used = time.monotonic()
        hello = json.dumps({"targets": targets}).encode() + b"\n"
        try:
            with stop.on_cancel(self.interrupt):
                reply = self._exchange(hello, time.monotonic() + start_seconds)
            if stop.why:
                raise WorkerLost
            if reply.header.kind != HELLO:
                raise WorkerLost(f"it can't be loaded: {reply.header.error}")
        except WorkerLate:
            self.kill()
            raise WorkerLost(f"its code wasn't loaded after {start_seconds:g} s{self._tail()}") from None
        except WorkerLost as error:
            self.kill()
            why = f"its start was broken off, since {stop.why}" if stop.why else error
            raise WorkerLost(f"{why}{self._tail()}") from None
        except BaseException:
            self.kill()
            raise
        self.hello = reply.header

    @property
    def pid(self) -> int:
        """The process that keeps the worker; the worker is its only child."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def call(self, request: dict[str, Any], args: str, seconds: float) -> Reply:
        """Make one call; raises WorkerLate at the deadline and WorkerLost for any other end. `kill` it then."""
        self._number += 1
        self._stderr.clear()
        self._stderr_total = 0
        header = json.dumps({**request, "id": self._number, "result_limit": limits.MAX_STDOUT_BYTES})
        reply = self._exchange(f"{header}\n{args}\n".encode(), time.monotonic() + seconds)
        if reply.header.number != self._number:
            raise WorkerLost("it answered something that wasn't asked")
        self.last_used = time.monotonic()
        return reply

    def take_stderr(self) -> tuple[str, bool]:
        """Return the end of what was written to stdout and stderr since the call began, and whether there was more."""
        self._drain_stderr()
        text = self._top.sub("", bytes(self._stderr).decode("utf-8", "replace")) if self._stderr else ""
        return text, self._stderr_total > len(self._stderr)

    def stop(self) -> None:
        """End it in peace: its requests end, its exit handlers run, and what is left then is killed."""
        self._close("_requests")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(limits.WORKER_STOP_SECONDS)
        self.kill()

    def interrupt(self) -> None:
        """Kill it from another thread while a call waits: that thread gets WorkerLost."""
        self._close("_control")

    def kill(self) -> int:
        """Kill it with everything that it started, and return its exit code; negative is a signal."""
        self._close("_control")
        try:
            code = self._process.wait(limits.KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._drain_stderr(rest=True)
        for name in ("_requests", "_replies", "_errors"):
            self._close(name)
        return _plain_code(code)

    def describe_end(self) -> str:
        """Wait for the process that just closed its pipes, and say how it ended."""
        try:
            code = self._process.wait(limits.WORKER_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its pipes"
        code = _plain_code(code)
        return f"it was killed by signal {-code}" if code < 0 else f"it exited with code {code}"

    def _start(self, pack_fd: int, label: str, memory_bytes: int) -> None:
        self._requests = self._replies = self._control = self._errors = -1
        theirs: list[int] = []
        try:
            for name, is_ours_to_write in _PIPES.items():
                reads, writes = os.pipe()
                ours, their = (writes, reads) if is_ours_to_write else (reads, writes)
                setattr(self, name, ours)
                theirs.append(their)
            self._process = self._launch(theirs, pack_fd, label, memory_bytes)
        except OSError as error:
            for name in _PIPES:
                self._close(name)
            raise Unavailable("can't start a worker process", why=str(error)) from error
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        for descriptor in (self._requests, self._replies, self._errors):
            os.set_blocking(descriptor, False)
        self._poll = select.poll()
        self._poll.register(self._replies, select.POLLIN)
        self._poll.register(self._errors, select.POLLIN)

    def _launch(self, theirs: list[int], pack_fd: int, label: str, memory_bytes: int) -> subprocess.Popen[bytes]:
        requests, replies, control, errors = theirs
        passed = (requests, replies, control, pack_fd)
        arguments = (label, *map(str, passed), str(limits.CHILD_UMASK), *dump_rlimits(memory_bytes))
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_SCRIPT), *arguments],
            env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, pass_fds=passed, start_new_session=True,
        )  # fmt: skip

    def _exchange(self, message: bytes, deadline: float) -> Reply:
        """Send a message and read one reply, draining stderr meanwhile so that nobody blocks."""
        unsent = self._send(memoryview(message))
        if unsent:
            self._poll.register(self._requests, select.POLLOUT)
        received = bytearray()
        header: Header | None = None
        wanted = 0
        while header is None or len(received) < wanted:
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerLate
            for descriptor, _ in self._poll.poll(left * 1000):
                if descriptor == self._replies:
                    self._receive(received)
                elif descriptor == self._errors:
                    self._drain_stderr()
                elif not (unsent := self._send(unsent)):
                    self._poll.unregister(self._requests)
            if header is None and (end := received.find(b"\n")) >= 0:
                header = parse_header(bytes(received[:end]))
                wanted = end + 1 + header.size
            elif header is None and len(received) > limits.MAX_REPLY_HEADER_BYTES:
                raise WorkerLost("its answer has no end")
        return Reply(header, bytes(received[wanted - header.size : wanted]))

    def _send(self, message: memoryview) -> memoryview:
        try:
            while message:
                message = message[os.write(self._requests, message) :]
        except BlockingIOError:
            return message
        except OSError as error:
            raise WorkerLost(self.describe_end()) from error
        return message

    def _receive(self, received: bytearray) -> None:
        try:
            chunk = os.read(self._replies, _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            raise WorkerLost(self.describe_end())
        received += chunk

    def _drain_stderr(self, *, rest: bool = False) -> None:
        """Read what came; with `rest` all that is there, for a process that has ended."""
        while self._errors >= 0:
            try:
                chunk = os.read(self._errors, _CHUNK_BYTES)
            except BlockingIOError:
                return
            if not chunk:
                with contextlib.suppress(KeyError):
                    self._poll.unregister(self._errors)
                return
            self._stderr += chunk
            self._stderr_total += len(chunk)
            if len(self._stderr) > limits.STDERR_TAIL_BYTES:
                del self._stderr[: -limits.STDERR_TAIL_BYTES]
            if not rest:
                return  # the clock must be looked at in between

    def _tail(self) -> str:
        text = self.take_stderr()[0].strip()
        return f"\nstderr: {text[-limits.STDERR_IN_ERROR_CHARACTERS :]}" if text else ""

    def _close(self, name: str) -> None:
        with self._closing:
            descriptor = getattr(self, name)
            setattr(self, name, -1)
        if descriptor >= 0:
            os.close(descriptor)


def _plain_code(code: int) -> int:
    """Return an exit code, a signal as its negative number: the keeper says it as a shell does, unless it was killed itself."""
    return _SIGNAL_BASE - code if code > _SIGNAL_BASE else code
