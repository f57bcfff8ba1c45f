"""The host's end of one supervisor process: start it, give it a request, read what came. Which is free is `market.run.pool`."""

from __future__ import annotations

import contextlib
import marshal
import os
import resource
import signal
import socket
import subprocess
import sys
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.cancellation import NEVER
from market.errors import Unavailable
from market.run import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.cancellation import Cancellation

_SCRIPT = Path(__file__).with_name("supervisor.py")
_HEADER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Request:
    """One process to run. `folder` is relative to the pack's directory, `entry` to that folder; both as the file system spells them."""

    folder: bytes
    entry: bytes
    environment: Mapping[bytes, bytes]
    stdin: bytes
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a process. `failure` is the errno of an exec that didn't work, else 0; `code` is negative for a signal.

    `stdout` holds the first bytes up to the cap, `stderr` the last; the totals count what was written. `survivors` says that
    some of its processes couldn't be killed. `queue_seconds` is the wait for a free supervisor.
    """

    failure: int
    timed_out: bool
    cancelled: bool
    code: int | None
    stdout: bytes
    stdout_total: int
    stderr: bytes
    stderr_total: int
    seconds: float
    survivors: bool
    queue_seconds: float = 0.0


class SupervisorDied(Exception):
    """The supervisor ended, or didn't answer in time. It can't be used any more."""


class Supervisor:
    """One supervisor process. For one thread at a time."""

    def __init__(self, memory_bytes: int = limits.CALL_MEMORY_BYTES) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = _start(theirs, memory_bytes)
            except OSError as error:
                self._socket.close()
                raise Unavailable("can't start a supervisor process", why=str(error)) from error

    @property
    def pid(self) -> int:
        """The supervisor's process id."""
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def run(self, request: Request, pack_fd: int, cancellation: Cancellation = NEVER) -> Result:
        """Run one request in the directory `pack_fd`, a cancelled one to the end of its grace; raises SupervisorDied."""
        patience = (
            request.timeout_seconds + limits.TERM_GRACE_SECONDS + limits.KILL_SECONDS + limits.REPLY_SLACK_SECONDS
        )
        child = -1
        try:
            self._socket.settimeout(patience)
            self._send(_dump_request(request), pack_fd)
            # Not before the request is sent: the two would mix.
            with cancellation.on_cancel(self._cancel):
                child = self._receive_child()
                return Result(**self._receive())
        except OSError as error:
            _kill_orphan(child)
            raise SupervisorDied(str(error) or type(error).__name__) from error
        finally:
            if child >= 0:
                os.close(child)

    def interrupt(self) -> None:
        """Break off the call that another thread is waiting for: that thread gets SupervisorDied, and closes."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the process with everything that it runs. Closing the socket makes it kill its call's tree before it goes."""
        self._socket.close()
        try:
            self._process.wait(limits.KILL_SECONDS + limits.TERM_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _cancel(self) -> None:
        """Have the running call end as at its deadline; one that has just ended isn't harmed."""
        with contextlib.suppress(OSError):
            self._socket.send(bytes(_HEADER_BYTES), socket.MSG_DONTWAIT)

    def _send(self, body: bytes, pack_fd: int) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [pack_fd]))
        self._socket.sendmsg([len(body).to_bytes(_HEADER_BYTES, "little")], [rights])
        self._socket.sendall(body)

    def _receive_child(self) -> int:
        """Take the pidfd of what was started; -1 where there is none."""
        started, descriptors, _, _ = socket.recv_fds(self._socket, 1, 1, socket.MSG_CMSG_CLOEXEC)
        if not started:
            raise ConnectionError("the supervisor ended before the call began")
        return descriptors[0] if descriptors else -1

    def _receive(self) -> dict[str, Any]:
        size = int.from_bytes(self._receive_exactly(_HEADER_BYTES), "little")
        # marshal is safe here: the bytes come from our own script, run by this same interpreter.
        reply: dict[str, Any] = marshal.loads(self._receive_exactly(size))
        return reply

    def _receive_exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            chunk = self._socket.recv(min(size - len(received), 1 << 20))
            if not chunk:
                raise ConnectionError("the supervisor ended in the middle of a call")
            received += chunk
        return bytes(received)


def dump_rlimits(memory_bytes: int) -> tuple[str, ...]:
    """Return as arguments of our scripts what each process of a call is limited to; 0 bytes of memory is no limit."""
    values = {
        resource.RLIMIT_CORE: limits.MAX_CORE_BYTES,
        resource.RLIMIT_NOFILE: limits.MAX_OPEN_FILES,
        resource.RLIMIT_FSIZE: limits.MAX_FILE_BYTES,
        resource.RLIMIT_DATA: memory_bytes or resource.RLIM_INFINITY,
    }
    return tuple(f"{which}={most}" for which, most in values.items() if most != resource.RLIM_INFINITY)


def _start(theirs: socket.socket, memory_bytes: int) -> subprocess.Popen[bytes]:
    """Start the script with an empty environment and in its own session, so that a terminal's Ctrl-C reaches the host first."""
    return subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-S",
            "-X",
            "utf8",
            str(_SCRIPT),
            str(theirs.fileno()),
            str(limits.CHILD_UMASK),
            *dump_rlimits(memory_bytes),
        ],
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(theirs.fileno(),),
        start_new_session=True,
    )


def _kill_orphan(child: int) -> None:
    """Kill what a dead supervisor has left running: its child, which leads a session, with that session's group."""
    if child < 0:
        return
    with contextlib.suppress(OSError, ValueError):
        status = Path(f"/proc/self/fdinfo/{child}").read_text()
        pid = int(status.rpartition("\nPid:")[2].split()[0])
        if pid > 0:  # -1 once the process is gone; only then could the number be somebody else's
            os.killpg(pid, signal.SIGKILL)


def _dump_request(request: Request) -> bytes:
    return marshal.dumps(
        {
            "folder": request.folder,
            "entry": request.entry,
            "environment": dict(request.environment),
            "stdin": request.stdin,
            "timeout": request.timeout_seconds,
            "grace": limits.TERM_GRACE_SECONDS,
            "linger": limits.LINGER_SECONDS,
            "kill": limits.KILL_SECONDS,
            "stdout_limit": limits.MAX_STDOUT_BYTES,
            "stderr_limit": limits.STDERR_TAIL_BYTES,
        }
    )
