"""What people see at a terminal while it goes on, and what programs are told."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import struct
import sys
import termios
import threading
import time
from typing import TYPE_CHECKING, TextIO

import pytest

from market.cli.market import process_start
from market.cli.output import Output
from tests.cli.test_installing import publish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.shell import Shell

pytestmark = pytest.mark.flow


class Terminal:
    """A pseudo terminal in place of stderr; `text` is what was drawn on it so far."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.stderr: TextIO = os.fdopen(slave, "w")
        self._pieces: list[bytes] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def attach(self) -> None:
        """Become stderr; called in the test itself, because pytest puts its own back between a fixture and its test."""
        self._monkeypatch.setattr(sys, "stderr", self.stderr)

    @property
    def text(self) -> str:
        time.sleep(0.1)
        return b"".join(self._pieces).decode(errors="replace")

    def _read(self) -> None:
        try:
            while piece := os.read(self.master, 65_536):
                self._pieces.append(piece)
        except OSError:
            return


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    made = Terminal(monkeypatch)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    yield made
    made.stderr.close()


def download(output: Output, seconds: float) -> None:
    total, started = 8_000_000, time.monotonic()
    output.observe("my-pack 1.0.0", 0, total)
    while (passed := time.monotonic() - started) < seconds:
        output.observe("my-pack 1.0.0", int(total * passed / seconds), total)
        time.sleep(0.02)
    output.observe("my-pack 1.0.0", total, total)


def download_until_drawn(output: Output, terminal: Terminal) -> None:
    """A download that goes on until its rate is on the terminal: how soon that is drawn depends on the machine's load."""
    for done in range(0, 8_000_000, 40_000):
        output.observe("my-pack 1.0.0", done, 8_000_000)
        if re.search(r"\d [kM]B/s", terminal.text):
            return


def test_a_download_shows_bytes_and_rate(terminal: Terminal) -> None:
    terminal.attach()
    output = Output()
    with output.progress("fetching"):
        download_until_drawn(output, terminal)
    text = terminal.text
    assert "my-pack 1.0.0" in text and re.search(r"\d/8\.0 MB", text) and re.search(r"\d [kM]B/s", text)


def test_a_download_that_begins_after_the_spinner_gets_its_bar(terminal: Terminal) -> None:
    terminal.attach()
    output = Output()
    with output.progress("fetching"):
        while "fetching" not in terminal.text:
            time.sleep(0.05)
        download_until_drawn(output, terminal)
    assert "MB/s" in terminal.text or "kB/s" in terminal.text


def test_short_work_draws_nothing_and_neither_does_quiet_or_json(terminal: Terminal) -> None:
    terminal.attach()
    with Output().progress("short"):
        pass
    for output in (Output(quiet=True), Output(as_json=True, quiet=True)):
        with output.progress("long"):
            download(output, 0.8)
    assert terminal.text == ""


def test_a_dumb_terminal_gets_no_lines_that_move(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.attach()
    monkeypatch.setenv("TERM", "dumb")
    with Output().progress("long"):
        download(Output(), 0.8)
    assert terminal.text == ""


def test_events_are_lines_of_json_on_stderr_and_stdout_stays_one_document(shell: Shell) -> None:
    publish(shell)
    shell.environ["MARKET_ROOTS"] = f"{shell.folder}/root:relative"
    ran = shell("install", "my-pack", "--json")
    events = [json.loads(line) for line in ran.err.splitlines()]
    assert [event["event"] for event in events] == ["remark", "download", "download", "plan"]
    size = events[2]["total"]
    assert [(event["what"], event["bytes"]) for event in events[1:3]] == [("my-pack 1.0.0", 0), ("my-pack 1.0.0", size)]
    assert events[3]["items"][0]["action"] == "install" and ran.json["items"][0]["name"] == "my-pack"
    assert shell("install", "my-pack", "--json", "--quiet").err == ""


def test_the_time_it_took_is_said(shell: Shell) -> None:
    publish(shell)
    assert re.search(r"^done in \d+\.\d\d s$", shell("install", "my-pack").out, re.MULTILINE)
    assert 0 < shell("install", "my-pack", "--json").json["seconds"] < 60
    assert "done in" not in shell("install", "my-pack", "--dry-run").out


def test_the_time_counts_from_the_start_of_the_process() -> None:
    age = time.monotonic() - process_start()
    assert 0.05 < age < 36_000


def test_the_plan_comes_before_the_change(shell: Shell, terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal.attach()
    publish(shell)
    monkeypatch.setattr(contextlib, "redirect_stderr", lambda _: contextlib.nullcontext())
    shell("install", "my-pack")
    assert "install my-pack 1.0.0 (3 files" in terminal.text and "1 to install" in terminal.text
