"""Run an ASGI app as a server process: a port of its own, the app in child processes, one ready call, a graceful stop.

Which app, and what is printed when it is ready, is the caller's.
"""

from __future__ import annotations

import http.client
import logging
import logging.config
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from granian.constants import Interfaces, Loops
from granian.log import LogLevels
from granian.server.mp import MPServer

from market.errors import MarketError
from market.web.launch import STOP_SIGNAL, Launch, load_app, load_failure, save_launch
from market.web.logs import log_settings
from market.web.ports import hold_port, resolve_address, url_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

READY_TIMEOUT_SECONDS = 30.0
READY_POLL_SECONDS = 0.02
STOP_SECONDS = 10.0
"""What a child may take to stop, beyond the grace that its requests are given, before it is killed."""
HURRY_SECONDS = 4.0
"""The same after a second Ctrl-C, counted from it."""
BACKLOG_CONNECTIONS = 1024


class _Server(MPServer):
    """Granian, which calls `started` once its children run."""

    def __init__(self, started: Callable[[], None], **options: Any) -> None:
        super().__init__(**options)
        self._started = started
        self._hurry: threading.Timer | None = None

    def startup(self, *arguments: Any, **options: Any) -> None:
        """Start the children, then the watcher. Not before: a fork while a second thread runs may copy a held lock."""
        hang_up = signal.getsignal(signal.SIGHUP)
        super().startup(*arguments, **options)  # type: ignore[no-untyped-call]
        # Granian would reload where its terminal goes away, and stay; nohup still means to stay.
        signal.signal(signal.SIGHUP, hang_up if hang_up is signal.SIG_IGN else self.signal_handler_interrupt)
        threading.Thread(target=self._started, daemon=True, name="ready").start()

    def shutdown(self, exit_code: int = 0) -> None:
        """Tell the children, then stop them."""
        self._tell_children()
        super().shutdown(exit_code)  # type: ignore[no-untyped-call]

    def signal_handler_interrupt(self, *arguments: Any, **named: Any) -> None:
        """Stop; a second Ctrl-C ends the requests that run, a third one doesn't wait for that."""
        if self.interrupt_signal and arguments[0] == signal.SIGINT:
            self._press()
        super().signal_handler_interrupt(*arguments, **named)  # type: ignore[no-untyped-call]

    def _press(self) -> None:
        if self._hurry is not None:
            self._kill_children()
            return
        self._tell_children()
        self._hurry = threading.Timer(HURRY_SECONDS, self._kill_children)
        self._hurry.daemon = True
        self._hurry.start()

    def _tell_children(self) -> None:
        for child in self._children():
            os.kill(child.pid, STOP_SIGNAL)

    def _kill_children(self) -> None:
        for child in self._children():
            child.kill()

    def _children(self) -> list[Any]:
        return [one.inner for one in self.wrks if one.inner.is_alive()]


def serve(
    target: str,
    settings: Mapping[str, object],
    *,
    host: str,
    port: int,
    workers: int = 1,
    ready: Callable[[str], None],
    log_level: str = "INFO",
    fast_loop: bool = False,
    stop_grace_seconds: float = 0.0,
) -> None:
    """Serve the app that the factory `module:name` makes, until SIGTERM or SIGINT; must be called in the main thread.

    The factory runs in each child process and finds `settings` (JSON values) through `market.web.launch.load_launch`.
    `ready(url)` is called exactly once, when the app answers `/healthz`. Port 0 picks a free port. `fast_loop` runs the app on
    uvloop, which must be installed. `stop_grace_seconds` is what the app gives its requests when it's told to stop
    (`market.web.launch.STOP_SIGNAL`). Raises `Unavailable` for a taken port, and whatever error the factory raised. Killing this
    process kills the children.
    """
    address = resolve_address(host)
    logging.config.dictConfig(log_settings(log_level))
    with hold_port(address, port) as held, tempfile.TemporaryDirectory(prefix="market-serve-") as folder:
        failure_file = Path(folder, "failure.json")
        port = held.getsockname()[1]
        url = url_of(address, port)
        save_launch(Launch(url, dict(settings), str(failure_file)))
        server = _Server(
            lambda: _announce(url, ready),
            **_options(target, address, port, workers, log_level, fast_loop, stop_grace_seconds),
        )
        try:
            server.serve(target_loader=load_app)
        except SystemExit:
            raise load_failure(failure_file) or MarketError(
                "a process of the server ended unexpectedly", hint="the log on stderr says why"
            ) from None


def _options(
    target: str, address: str, port: int, workers: int, log_level: str, fast_loop: bool, stop_grace_seconds: float
) -> dict[str, Any]:
    return {
        "target": target,
        "address": address,
        "port": port,
        "interface": Interfaces.ASGI,
        # Named, since what is found installed by chance would differ from machine to machine.
        "loop": Loops.uvloop if fast_loop else Loops.asyncio,
        "workers": workers,
        "websockets": False,
        "backlog": BACKLOG_CONNECTIONS,
        "workers_kill_timeout": stop_grace_seconds + STOP_SECONDS,
        "log_level": LogLevels.warning,
        "log_dictconfig": log_settings(log_level),
    }


def _announce(url: str, ready: Callable[[str], None]) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_SECONDS
    while not _is_healthy(url):
        if time.monotonic() > deadline:
            logging.getLogger("market.web").error(
                "the server at %s didn't answer /healthz in %d s", url, READY_TIMEOUT_SECONDS
            )
            os.kill(os.getpid(), 15)
            return
        time.sleep(READY_POLL_SECONDS)
    ready(url)


def _is_healthy(url: str) -> bool:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=READY_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
