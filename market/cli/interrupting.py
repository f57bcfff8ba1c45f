"""The request to end, and the end of the terminal, as the interrupt that Ctrl-C is: the command cleans up, and exits 130."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let TERM and HUP be an interrupt; one that is ignored, as by nohup, stays ignored. Outside the main thread nothing changes."""
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)
