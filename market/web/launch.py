"""What passes between the process that starts a server and the child that runs its app: settings in, a failure to start out.

Both travel through the environment and the file system, so that it doesn't matter whether the child was forked or spawned.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import multiprocessing
import os
import signal
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from market.errors import MarketError
from market.web.problems import STATUSES, dump_error, known_error

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LAUNCH_VARIABLE = "MARKET_LAUNCH"
PR_SET_PDEATHSIG = 1
STOP_SIGNAL = signal.SIGUSR1
"""Tells a child that the server stops, and the second time that it shall be quick. An app that has long requests takes it with its
event loop: from the server itself it hears of the stop only when all requests have ended."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What the child learns: the server's URL, the app's own settings (JSON values), and where to write a failure to start."""

    url: str
    settings: dict[str, Any] = field(default_factory=dict)
    failure_file: str = ""


def save_launch(launch: Launch) -> None:
    """Put a launch into this process's environment, for the children."""
    os.environ[LAUNCH_VARIABLE] = json.dumps(asdict(launch))


def load_launch() -> Launch:
    """Return the launch that the parent process left in the environment; apps call this in their factory."""
    return Launch(**json.loads(os.environ[LAUNCH_VARIABLE]))


def load_app(target: str) -> ASGIApp:
    """In the child: tie its life to the parent's, then make the app by the factory `module:name`.

    A failure is written down for the parent, whose error it becomes.
    """
    die_with_parent()
    # A terminal's Ctrl-C goes to the whole group; the parent alone decides how the children stop.
    os.setpgid(0, 0)
    # Nothing happens where the app doesn't listen; a function, since programs would inherit that it's ignored.
    signal.signal(STOP_SIGNAL, lambda *_: None)
    module, _, name = target.partition(":")
    try:
        return cast("ASGIApp", getattr(importlib.import_module(module), name)())
    except Exception as exception:
        error = known_error(exception)
        if error is not exception:
            error = MarketError("the server can't start", why="a fault of its own", hint="the log on stderr says which")
        if failure_file := load_launch().failure_file:
            Path(failure_file).write_text(json.dumps(dump_error(error), default=str))
        raise SystemExit(1) from None


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the thread that started it ends, however it ends (Linux only)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    parent = multiprocessing.parent_process()
    # The parent may have died before the request; then nobody would ever send the signal.
    if parent is not None and os.getppid() != parent.pid:
        os._exit(1)


def load_failure(path: Path) -> MarketError | None:
    """Return the error that a child wrote down, or None where it wrote none."""
    if not path.exists() or not (text := path.read_text()):
        return None
    fields = json.loads(text)
    kind = next((kind for kind in STATUSES if kind.__dict__.get("slug") == fields["code"]), MarketError)
    return kind(fields["detail"], why=fields["why"], hint=fields["hint"], details=fields["details"])
