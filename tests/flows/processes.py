"""Real processes for tests: the `market` command, and servers that start on free ports and stop with the test."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MARKET = str(Path(sys.executable).with_name("market"))
REPOSITORY = Path(__file__).parents[2]
SAMPLE_PACKS = REPOSITORY / "sample-packs"
READY_SECONDS = 30
COMMAND_SECONDS = 60


@dataclass(frozen=True)
class Ran:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


@dataclass(frozen=True)
class World:
    """One empty home and what belongs to it. No flag and no port of the defaults: servers are given port 0 by environment."""

    home: Path
    market: str = MARKET

    @property
    def environment(self) -> dict[str, str]:
        """The environment of every command in this world."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "MARKET_HOME": str(self.home / "market"),
            "MARKET_INDEX_SERVER_PORT": "0",
            "MARKET_HOST_PORT": "0",
            "NO_COLOR": "1",
        }

    def run(
        self,
        *arguments: object,
        expect: int | None = 0,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        """Run `market` to its end; fails the test when the exit code isn't the expected one."""
        done = subprocess.run(
            [self.market, *map(str, arguments)],
            env={**self.environment, **(environment or {})},
            cwd=cwd or self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert expect is None or ran.code == expect, f"market {arguments} ended with {ran.code}\n{ran.out}\n{ran.err}"
        assert "Traceback" not in ran.err + ran.out, ran.err
        return ran

    @contextmanager
    def serve(self, *arguments: object) -> Iterator[dict[str, Any]]:
        """Start `market ARGUMENTS --json`, yield the ready object, stop it by SIGTERM and expect a clean end."""
        # A file, not a pipe: a server whose log nobody reads must not stop at a full pipe.
        log_path = self.home / f"{'-'.join(map(str, arguments[:2])).replace('/', '-')}-{time.monotonic_ns()}.log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                [self.market, *map(str, arguments), "--json"],
                env=self.environment,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            yield json.loads(_first_line(process, log_path))
        finally:
            process.terminate()
            process.communicate(timeout=READY_SECONDS)
            assert process.returncode in (0, -15), f"{arguments} ended with {process.returncode}\n{_tail(log_path)}"


def _first_line(process: subprocess.Popen[str], log_path: Path) -> str:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.select(READY_SECONDS)
    line = process.stdout.readline() if process.poll() is None else ""
    assert line.strip(), f"no ready line; its log ends: {_tail(log_path)}"
    return line


def _tail(log_path: Path) -> str:
    return log_path.read_text(errors="replace")[-4000:]


def wait_until(answer: Any, *, seconds: float = 10.0, every: float = 0.01) -> Any:
    """Call `answer` until it returns something true, and return that; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        if value := answer():
            return value
        assert time.monotonic() < deadline, f"nothing true within {seconds} s"
        time.sleep(every)
