"""Where a command's words go: answers on stdout, remarks and progress on stderr. One document on stdout with `--json`."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from market.cli.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PROGRESS_AFTER_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Output:
    """How one command speaks. `quiet` keeps answers to questions, and drops the report of what was done and every remark.

    `transfers` are the downloads so far: what is fetched, with its bytes and how many they will be.
    """

    as_json: bool = False
    quiet: bool = False
    transfers: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def is_watched(self) -> bool:
        """Whether a person at a terminal sees what happens."""
        return not (self.quiet or self.as_json) and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

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
        if self.as_json:
            self.event("remark", text=text)
        elif not self.quiet:
            click.echo(printable(text), err=True)

    def event(self, kind: str, **fields: object) -> None:
        """With `--json`, print what happens while it happens: one JSON object a line, on stderr."""
        if self.as_json and not self.quiet:
            click.echo(json.dumps({"event": kind, **fields}, default=str), err=True)

    def observe(self, what: str, done: int, total: int) -> None:
        """Note how far a download has come; its beginning and its end are events."""
        began = what not in self.transfers
        self.transfers[what] = done, total
        if began or done >= total:
            self.event("download", what=what, bytes=done, total=total)

    @contextmanager
    def progress(self, label: str) -> Iterator[None]:
        """Show on a terminal that long work goes on. Short work shows nothing, and rich is loaded only when it draws."""
        if not self.is_watched:
            yield
            return
        stop = threading.Event()
        thread = threading.Thread(target=_draw, args=(printable(label), self.transfers, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()


def _draw(label: str, transfers: Mapping[str, tuple[int, int]], stop: threading.Event) -> None:
    if not stop.wait(PROGRESS_AFTER_SECONDS):
        importlib.import_module("market.cli.progress").draw_until(label, transfers, stop)
