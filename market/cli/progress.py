"""The moving lines on a terminal while long work goes on. The only module that imports rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TransferSpeedColumn

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from rich.progress import TaskID

DRAW_SECONDS = 0.1


def draw_until(label: str, transfers: Mapping[str, tuple[int, int]], stop: threading.Event) -> None:
    """Draw a label with a spinner on stderr until the event is set, and a bar with bytes and rate for each download; then wipe it."""
    console = Console(stderr=True)
    plain = Progress(SpinnerColumn(), TextColumn("{task.description}"), console=console, transient=True)
    columns = (TextColumn("  {task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    bars = Progress(SpinnerColumn(), *columns, console=console, transient=True)
    tasks: dict[str, TaskID] = {}
    finished = {what for what, (done, total) in transfers.items() if done >= total}
    with plain if not (set(transfers) - finished) else bars as shown:
        shown.add_task(escape(label), total=None)
        while not stop.wait(DRAW_SECONDS):
            running = {what: state for what, state in list(transfers.items()) if what not in finished}
            if running and shown is plain:
                plain.stop()
                bars.add_task(escape(label), total=None)
                bars.start()
                shown = bars
            for what, (done, total) in running.items():
                if what not in tasks:
                    tasks[what] = bars.add_task(escape(what), total=total)
                bars.update(tasks[what], completed=done, total=total)
        bars.stop()
