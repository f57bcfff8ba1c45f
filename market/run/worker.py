"""The process of one wheel pack: it keeps the pack's code apart from the host, and leaves no process behind.

A standalone script, started as `python -I -S worker.py LABEL REQUESTS REPLIES CONTROL PACK UMASK RLIMIT=MOST...`, never imported.
LABEL is for whoever reads the process table; the next four are descriptors. It is two processes: this one only waits, as a
subreaper, for the host to go or for the other one to end; the other one serves calls (`worker_serve.py`). The host's end is
`market.run.worker_link`.
"""

from __future__ import annotations

import os
import select
import signal
import sys

TYPE_CHECKING = False  # `typing` itself would double the start-up time
if TYPE_CHECKING:
    from market.run.supervisor import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, _prctl, find_descendants, set_limits
    from market.run.worker_serve import compile_from_source, serve
else:
    # Our neighbours on the disk, for one moment only: the pack must not see them. They come first, since `multiprocessing` runs this
    # file again in the processes that the pack's code starts with it, and there the pack stands in the path too.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib would cost 10 ms
    from supervisor import PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG, _prctl, find_descendants, set_limits
    from worker_serve import compile_from_source, serve

    del sys.path[0], sys.modules["supervisor"], sys.modules["worker_serve"], sys.modules["worker_shape"]

SIGNAL_BASE = 128
KILL_ROUNDS = 5000
KILL_PAUSE_SECONDS = 0.001


def keep(child: int, control: int) -> int:
    """Wait for the child's end, or for the host to close its end; return how the child ended, as a shell would say it."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    pidfd = os.pidfd_open(child)
    poll.register(pidfd, select.POLLIN)
    ready = [descriptor for descriptor, _ in poll.poll()]
    status = None
    if pidfd in ready:
        _, status = os.waitpid(child, 0)
    status = kill_all(child, status)
    if status is None:
        return SIGNAL_BASE + signal.SIGKILL
    code = os.waitstatus_to_exitcode(status)
    return SIGNAL_BASE - code if code < 0 else code


def kill_all(child: int, status: int | None) -> int | None:
    """Kill every descendant, also those that left the session, until none is left; return the child's status where it is known."""
    for _ in range(KILL_ROUNDS):
        try:
            ended, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if ended == child:
            status = found
        if not ended:
            for pid in find_descendants():
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
            select.select([], [], [], KILL_PAUSE_SECONDS)
    return status


def main() -> None:
    """Start the serving process and keep it."""
    requests, replies, control, pack = (int(text) for text in sys.argv[2:6])
    rlimits = [(int(which), int(most)) for which, _, most in (arg.partition("=") for arg in sys.argv[7:])]
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    set_limits(int(sys.argv[6]), rlimits)
    child = os.fork()
    if not child:
        _prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        os.setsid()
        os.close(control)
        for descriptor in (requests, replies):
            os.set_inheritable(descriptor, False)
        serve(requests, replies, pack)
        return
    # The lease on the pack's directory goes with the child, and so does the last hold on the pipes.
    for descriptor in (requests, replies, pack):
        os.close(descriptor)
    os._exit(keep(child, control))


if __name__ == "__main__":
    main()
elif __name__ == "__mp_main__":
    compile_from_source()
