"""The moving line on a terminal while long work goes on. The only module that imports rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    import threading


def draw_until(label: str, stop: threading.Event) -> None:
    """Draw a label with a spinner on stderr until the event is set, then wipe it."""
    with Console(stderr=True).status(escape(label)):
        stop.wait()
