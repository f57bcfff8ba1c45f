"""While a plugin's code runs, stdout is stderr: for prints, and for programs that it starts."""

from __future__ import annotations

import io
import os
import sys
import threading
from datetime import UTC, datetime
from typing import BinaryIO

import pytest

from market.cancellation import NEVER
from market.hookspecs import hookimpl
from market.model import Kind, Outcome, OutcomeKind
from market.pack.source import MemorySource
from market.plugins.loaded import load_plugins
from market.plugins.prints import diverted_prints
from tests.plugged import ADA, a_pack, a_target, an_entry


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


@pytest.mark.parametrize("name", ["stdout", "__stdout__"])
def test_what_waits_in_a_kept_stream_is_not_written_behind_the_diversion(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    # Buffered, as a pipe's stream is where the environment doesn't say otherwise.
    with open(1, "w", closefd=False) as kept:
        monkeypatch.setattr(sys, name, kept)
        with diverted_prints():
            kept.write("noise\n")
        kept.write("answer\n")
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("answer\n", "noise\n")


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
    def execute(self, target: object, args_text: str, timeout_seconds: float) -> Outcome:
        say("running")
        return Outcome(OutcomeKind.OK)

    def fetch(self, address: str, out: BinaryIO, limit_bytes: int) -> None:
        say("fetching")

    @hookimpl
    def register_executors(self) -> object:
        return {Kind.COMMAND: self}

    @hookimpl
    def register_fetchers(self) -> object:
        return {"s3": self}

    @hookimpl
    def pack_removed(self) -> None:
        say("hearing")

    @hookimpl
    def scan_pack(self) -> object:
        say("scanning")
        yield from ()
        say("scanned")


def test_all_that_a_plugin_does_prints_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    entry = an_entry(Prints())

    class Loud:
        name, distribution, version, target = entry.name, entry.distribution, entry.version, ""

        def load(self) -> object:
            say("loading")
            return entry.load()

    plugins = load_plugins(entry_points=[Loud()])  # type: ignore[list-item]
    plugins.scan_pack(a_pack(), MemorySource({}), "install")
    plugins.register_executors({})[Kind.COMMAND].execute(a_target(), "{}", 1.0, NEVER)
    plugins.register_fetchers()["s3"].fetch("s3://x", io.BytesIO(), 1)
    plugins.pack_removed("x", "1.0.0", "/srv", ADA, datetime.now(UTC))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "loading\nscanning\nscanned\nrunning\nfetching\nhearing\n")
