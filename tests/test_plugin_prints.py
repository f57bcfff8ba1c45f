"""While a plugin's code runs, stdout is stderr: for prints, and for programs that it starts."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.pack.source import MemorySource
from market.plugin_prints import diverted_prints
from market.plugins import load_plugins
from tests.plugged import a_pack, an_entry

if TYPE_CHECKING:
    import pytest


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def test_prints_and_raw_writes_go_to_stderr_and_ours_stay(capfd: pytest.CaptureFixture[str]) -> None:
    say("before")
    with diverted_prints():
        say("print")
        with diverted_prints():
            os.write(1, b"raw\n")
        say("still")
    say("after")
    captured = capfd.readouterr()
    assert captured.out == "before\nafter\n"
    assert sorted(captured.err.split()) == ["print", "raw", "still"]


def test_the_last_of_several_threads_puts_it_back(capfd: pytest.CaptureFixture[str]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with diverted_prints():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(5)
    with diverted_prints():
        say("one")
    say("two")
    leave.set()
    thread.join()
    say("three")
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("three\n", "one\ntwo\n")


class Prints:
    @hookimpl
    def scan_pack(self) -> object:
        say("scanning")
        yield from ()
        say("scanned")


def test_hooks_and_loading_print_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    entry = an_entry(Prints())

    class Loud:
        name, distribution, version, target = entry.name, entry.distribution, entry.version, ""

        def load(self) -> object:
            say("loading")
            return entry.load()

    load_plugins(entry_points=[Loud()]).scan_pack(a_pack(), MemorySource({}), "install")  # type: ignore[list-item]
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "loading\nscanning\nscanned\n")
