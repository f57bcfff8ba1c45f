"""The small process between host and child: runs one call at a time, and leaves no process behind.

A standalone script, started as `python -I -S supervisor.py FD UMASK RLIMIT=MOST...`, never imported: the standard
library only, few imports, and no limits of its own. The host's end is `market.run.supervision`.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import select
import signal
import socket
import sys
import time

TYPE_CHECKING = False  # `typing` itself would double the start-up time
if TYPE_CHECKING:
    from typing import Any

CHUNK_BYTES = 65536
HEADER_BYTES = 8
STARTED = b"\1"
# In the place of a request's size, while a call runs: end it as at its deadline.
CANCEL = bytes(HEADER_BYTES)
# What a pipe can hold at its end (its size is at most 1 MiB for an ordinary user), with room to spare.
LAST_CHUNKS = 64
TICK_SECONDS = 0.005
# Orphans that the call leaves while it runs become our children; this often they are reaped.
REAP_SECONDS = 1.0

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36

_prctl = ctypes.CDLL(None, use_errno=True).prctl


class Departure:
    """Whether we are asked to end. While a call runs, a signal must not break in: its processes are killed first."""

    def __init__(self) -> None:
        self.asked = False
        self.idle = True
        self.parent = os.getppid()

    def ask(self, *_: object) -> None:
        """Take a signal: leave at once when idle, else at the running call's next step."""
        self.asked = True
        if self.idle:
            raise SystemExit

    def ask_if_orphaned(self, *_: object) -> None:
        """Take the parent-death signal; the kernel sends it also when only the thread that started us has ended."""
        if os.getppid() != self.parent:
            self.ask()


class Capture:
    """The first or the last bytes of a stream, and how many came in all. The rest is read and dropped, so that nobody blocks."""

    def __init__(self, limit: int, *, tail: bool) -> None:
        self.limit = limit
        self.tail = tail
        self.total = 0
        self.kept = bytearray()

    def add(self, chunk: bytes) -> None:
        """Take what was read."""
        self.total += len(chunk)
        if self.tail:
            self.kept += chunk
            if len(self.kept) > self.limit:
                del self.kept[: -self.limit]
        elif len(self.kept) < self.limit:
            self.kept += chunk[: self.limit - len(self.kept)]


class Running:
    """One call under way: its child, its pipes, and what came out of them."""

    def __init__(self, request: dict[str, Any], pack_fd: int, control_fd: int, departure: Departure) -> None:
        self.request = request
        self.control_fd = control_fd
        self.departure = departure
        self.to_write = memoryview(request["stdin"])
        self.status: int | None = None
        self.cancelled = False
        self.failure = 0
        self.child = -1
        self.captures: dict[int, Capture] = {}
        self.poll = select.poll()
        self.spawn(pack_fd)

    def spawn(self, pack_fd: int) -> None:
        """Start the entry in the skill's folder of the open pack. `failure` keeps the errno of an exec that failed."""
        child_stdin, self.stdin = os.pipe()
        stdout, child_stdout = os.pipe()
        stderr, child_stderr = os.pipe()
        try:
            self.child = start_entry(self.request, pack_fd, (child_stdin, child_stdout, child_stderr))
        except OSError as error:
            self.failure = error.errno or errno.EIO
        for descriptor in (child_stdin, child_stdout, child_stderr):
            os.close(descriptor)
        self.captures[stdout] = self.stdout = Capture(self.request["stdout_limit"], tail=False)
        self.captures[stderr] = self.stderr = Capture(self.request["stderr_limit"], tail=True)
        for descriptor in (self.stdin, stdout, stderr):
            os.set_blocking(descriptor, False)
        self.pidfd = -1 if self.failure else open_pidfd(self.child)
        self.watch(stdout, stderr)

    def watch(self, stdout: int, stderr: int) -> None:
        """Register everything that may happen with the poll object."""
        self.poll.register(self.control_fd, select.POLLIN)
        self.poll.register(stdout, select.POLLIN)
        self.poll.register(stderr, select.POLLIN)
        if self.pidfd >= 0:
            self.poll.register(self.pidfd, select.POLLIN)
        self.poll.register(self.stdin, select.POLLOUT)
        self.feed()

    def feed(self) -> None:
        """Write what the pipe takes; a child that doesn't read, or closes early, is none of our business."""
        try:
            while self.to_write:
                self.to_write = self.to_write[os.write(self.stdin, self.to_write) :]
        except BlockingIOError:
            return
        except OSError:
            pass
        self.poll.unregister(self.stdin)
        os.close(self.stdin)
        self.stdin = -1

    def drain(self, descriptor: int) -> bool:
        """Read one chunk (the clock must be looked at in between); close the pipe at its end. False if nothing came."""
        try:
            chunk = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        if chunk:
            self.captures[descriptor].add(chunk)
            return True
        self.poll.unregister(descriptor)
        os.close(descriptor)
        del self.captures[descriptor]
        return False

    def listen(self) -> None:
        """Take what the host says while a call runs: that it shall end, or by its silence that the host is gone."""
        if os.read(self.control_fd, HEADER_BYTES):
            self.cancelled = True
        else:
            self.departure.asked = True

    def step(self, seconds: float) -> None:
        """Wait for something to happen, and take care of it."""
        longest = REAP_SECONDS if self.pidfd >= 0 else TICK_SECONDS
        for descriptor, _ in self.poll.poll(max(0.0, min(seconds, longest)) * 1000):
            if descriptor == self.control_fd:
                self.listen()
            elif descriptor == self.stdin:
                self.feed()
            elif descriptor == self.pidfd:
                self.poll.unregister(self.pidfd)
                os.close(self.pidfd)
                self.pidfd = -1
            else:
                self.drain(descriptor)
        if self.departure.asked:
            raise SystemExit
        self.reap()

    def reap(self) -> bool:
        """Collect what has ended; say whether anything is left."""
        try:
            while True:
                ended, status = os.waitpid(-1, os.WNOHANG)
                if not ended:
                    return True
                if ended == self.child:
                    self.status = status
        except ChildProcessError:
            return False

    def until_ended(self, deadline: float) -> bool:
        """Serve the pipes until the child has ended; False at the deadline, or when the call is cancelled."""
        while self.status is None and not self.failure:
            left = deadline - time.monotonic()
            if left <= 0 or self.cancelled:
                return False
            self.step(left)
        return True

    def linger(self, seconds: float) -> None:
        """Give what was started in the background a moment to flush its output."""
        deadline = time.monotonic() + seconds
        while self.captures and self.reap() and (left := deadline - time.monotonic()) > 0:
            self.step(min(left, TICK_SECONDS))

    def terminate(self, seconds: float) -> None:
        """Ask the whole tree to end, and give it time."""
        deadline = time.monotonic() + seconds
        send_to_descendants(signal.SIGTERM)
        while self.reap() and (left := deadline - time.monotonic()) > 0:
            self.step(min(left, TICK_SECONDS))

    def kill(self, seconds: float) -> bool:
        """Kill every descendant, also those that left the session, until none is left; False if some are."""
        deadline = time.monotonic() + seconds
        while self.reap():
            send_to_descendants(signal.SIGKILL)
            if time.monotonic() > deadline:
                return False
            time.sleep(TICK_SECONDS / 10)
        return True

    def close(self) -> None:
        """Take what the pipes still hold and close them, whoever else holds their other ends."""
        for descriptor in tuple(self.captures):
            for _ in range(LAST_CHUNKS):
                if not self.drain(descriptor):
                    break
        for descriptor in (*self.captures, self.stdin, self.pidfd):
            if descriptor >= 0:
                os.close(descriptor)


def run(request: dict[str, Any], pack_fd: int, control: socket.socket, departure: Departure) -> dict[str, Any]:
    """Run one call to its very end, and report."""
    started = time.monotonic()
    running = Running(request, pack_fd, control.fileno(), departure)
    survivors = True
    try:
        announce(control, running.pidfd)
        ended = running.until_ended(started + request["timeout"])
        if ended:
            running.linger(request["linger"])
        else:
            running.terminate(request["grace"])
    finally:
        survivors = not running.kill(request["kill"])
        running.close()
    return {
        "failure": running.failure,
        "timed_out": not ended and not running.cancelled,
        "cancelled": not ended and running.cancelled,
        "code": None if running.status is None else os.waitstatus_to_exitcode(running.status),
        "stdout": bytes(running.stdout.kept),
        "stdout_total": running.stdout.total,
        "stderr": bytes(running.stderr.kept),
        "stderr_total": running.stderr.total,
        "seconds": time.monotonic() - started,
        "survivors": survivors,
    }


def start_entry(request: dict[str, Any], pack_fd: int, streams: tuple[int, int, int]) -> int:
    """Start the entry as leader of a new session; raises OSError when the kernel refuses to execute it.

    posix_spawn needs no copy of our memory, and we are alone in this process: so we ourselves go to the skill's folder,
    which is inside the very tree that the host has open, whatever stands under its path by now.
    """
    folder = os.open(request["folder"] or b".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=pack_fd)
    try:
        os.fchdir(folder)
        return os.posix_spawn(
            request["entry"],
            [request["entry"]],
            request["environment"],
            file_actions=[(os.POSIX_SPAWN_DUP2, descriptor, target) for target, descriptor in enumerate(streams)],
            setsid=True,
            # Python ignores these two, and what is ignored stays ignored across exec: a child would loop on EPIPE.
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )
    finally:
        os.chdir("/")
        os.close(folder)


def set_limits(umask: int, rlimits: list[tuple[int, int]]) -> None:
    """Set on ourselves what the child inherits; a limit never goes above the one that we have."""
    os.umask(umask)
    for which, most in rlimits:
        _, hard = resource.getrlimit(which)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (value, value))


def announce(control: socket.socket, pidfd: int) -> None:
    """Hand the host a hold on the child: should we be killed, the host kills what we leave behind."""
    descriptors = pidfd.to_bytes(4, sys.byteorder) if pidfd >= 0 else b""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)] if descriptors else []
    control.sendmsg([STARTED], rights)


def open_pidfd(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends, or -1 where the kernel has none (before 5.3)."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def send_to_descendants(number: int) -> None:
    """Signal every process of the call."""
    for pid in find_descendants():
        try:
            os.kill(pid, number)
        except OSError:
            continue


def find_descendants() -> list[int]:
    """Return every process below this one. As subreaper we are the parent of all that double-forked away."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = read_parent(name)
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def read_parent(pid: str) -> int:
    """Return the parent's id; -1 for a process that has just ended."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        try:
            # The name in brackets may hold anything, brackets too: fields are counted behind the last one.
            return int(os.read(descriptor, 1024).rpartition(b")")[2].split()[1])
        finally:
            os.close(descriptor)
    except (OSError, IndexError, ValueError):
        return -1


def receive(control: socket.socket) -> tuple[dict[str, Any], int] | None:
    """Read one request and the pack's descriptor that travels with it; None when the host has closed its end."""
    while True:
        head, ancillary, _, _ = control.recvmsg(HEADER_BYTES, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC)
        if head != CANCEL:
            break  # else it came when its call had just ended
    if not head:
        return None
    descriptors = [int.from_bytes(data[:4], sys.byteorder) for _, _, data in ancillary]
    wanted = int.from_bytes(head, "little")
    body = bytearray()
    while len(body) < wanted:
        chunk = control.recv(min(wanted - len(body), 1 << 20))
        if not chunk:
            return None
        body += chunk
    return marshal.loads(bytes(body)), descriptors[0]


def serve(control: socket.socket, departure: Departure) -> None:
    """Answer requests, one at a time, until the host closes its end or we are asked to leave."""
    while not departure.asked and (received := receive(control)) is not None:
        departure.idle = False
        request, pack_fd = received
        try:
            reply = marshal.dumps(run(request, pack_fd, control, departure))
        finally:
            os.close(pack_fd)
        control.sendall(len(reply).to_bytes(HEADER_BYTES, "little"))
        control.sendall(reply)
        departure.idle = True


def main() -> None:
    """Become a subreaper that ends with its host, and serve."""
    departure = Departure()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, departure.ask)
    signal.signal(signal.SIGUSR1, departure.ask_if_orphaned)
    _prctl(PR_SET_PDEATHSIG, int(signal.SIGUSR1))
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    set_limits(
        int(sys.argv[2]), [(int(which), int(most)) for which, _, most in (arg.partition("=") for arg in sys.argv[3:])]
    )
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    try:
        serve(control, departure)
    except (BrokenPipeError, ConnectionResetError):
        return  # the host died while we answered it


if __name__ == "__main__":
    main()
