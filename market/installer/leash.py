"""The script that a program is started through which must not outlive this one: it asks the kernel for that, and becomes the program.

Arguments: the parent's process id, the program, its arguments. Not in the child between fork and exec: a host has many threads then.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent, which stays so over the exec; Linux only."""
    parent, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    # The parent may have died before the request; then nobody would ever send the signal.
    if os.getppid() != int(parent):
        sys.exit(1)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
