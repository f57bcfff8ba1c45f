"""Where a command's words go: answers on stdout, remarks and progress on stderr. One document on stdout with `--json`."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from market.cli.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PROGRESS_AFTER_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Output:
    """How one command speaks. `quiet` keeps answers to questions, and drops the report of what was done and every remark."""

    as_json: bool = False
    quiet: bool = False

    def answer(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print what was asked for."""
        if self.as_json:
            click.echo(json.dumps(document, indent=2, default=str))
            return
        for line in lines:
            click.echo(printable(line))

    def done(self, document: Mapping[str, Any], lines: Iterable[str]) -> None:
        """Print what was done."""
        if self.as_json or not self.quiet:
            self.answer(document, lines)

    def remark(self, text: str) -> None:
        """Print what the reader may like to know: a choice that was made, a warning."""
        if not self.quiet:
            click.echo(printable(text), err=True)

    @contextmanager
    def progress(self, label: str) -> Iterator[None]:
        """Show on a terminal that long work goes on. Short work shows nothing, and rich is loaded only when it draws."""
        if self.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            yield
            return
        stop = threading.Event()
        thread = threading.Thread(target=_draw, args=(printable(label), stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _draw(label: str, stop: threading.Event) -> None:
    if not stop.wait(PROGRESS_AFTER_SECONDS):
        importlib.import_module("market.cli.progress").draw_until(label, stop)
