"""The programs of Python packaging as their users run them: pip, uv, twine and pypi-simple, the newest of each, in an environment of their own.

They are installed when a test runs, from whatever registry this machine is set up for, and kept for a day.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from market.disk.lock import lock_file
from tests.real.corpus import UV, cache_folder

if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTIONS = ("pip", "uv", "twine", "pypi-simple")
CALL_SECONDS = 120


@dataclass(frozen=True)
class Ran:
    """A program that ended; `said` is all that it printed, on one line, since some break lines by the terminal's width."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return " ".join((self.out + " " + self.err).split())


@dataclass(frozen=True)
class Programs:
    """Runs the programs in an empty home, so that nothing this machine is set up for takes part."""

    home: Path

    def pip(self, *arguments: object, expect: int | None = 0) -> Ran:
        return self._run(python(), "-m", "pip", "--isolated", "--no-input", "--disable-pip-version-check", *arguments, expect=expect)

    def uv(self, *arguments: object, expect: int | None = 0, token: str = "") -> Ran:
        return self._run(_program("uv"), *arguments, expect=expect, UV_PUBLISH_TOKEN=token)

    def twine(self, *arguments: object, expect: int | None = 0, token: str = "") -> Ran:
        options = ("upload", "--non-interactive", "--disable-progress-bar", "--verbose")
        return self._run(_program("twine"), *options, *arguments, expect=expect, TWINE_USERNAME="__token__", TWINE_PASSWORD=token)

    def script(self, text: str, *arguments: object) -> Any:
        """Run Python code with these programs' libraries; it prints one JSON value."""
        return json.loads(self._run(python(), "-c", text, *arguments, expect=0).out)

    def _run(self, *command: object, expect: int | None, **variables: str) -> Ran:
        environment = {
            "HOME": str(self.home), "PATH": "/usr/bin:/bin", "COLUMNS": "400", "NO_COLOR": "1", "UV_CACHE_DIR": str(self.home / "uv"),
            "UV_NO_CONFIG": "1", "UV_PYTHON": python(), "PIP_CACHE_DIR": str(self.home / "pip"), "PYTHONWARNINGS": "ignore",
            **{name: value for name, value in variables.items() if value},
        }  # fmt: skip
        words = [str(word) for word in command]
        done = subprocess.run(
            words, env=environment, cwd=self.home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=CALL_SECONDS, check=False
        )
        ran = Ran(done.returncode, done.stdout, done.stderr)
        assert expect is None or ran.code == expect, f"{words} ended with {ran.code}\n{ran.out}\n{ran.err}"
        return ran


def python() -> str:
    """Return the interpreter of the environment."""
    return _program("python")


def _program(name: str) -> str:
    return str(_environment() / "bin" / name)


@cache
def _environment() -> Path:
    folder, today = cache_folder() / "python-clients", f"{datetime.now(UTC):%Y-%m-%d}"
    mark = folder / "installed-on"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock_file(folder.with_suffix(".lock"), timeout_seconds=CALL_SECONDS):
        if not mark.exists() or mark.read_text() != today:
            subprocess.run([UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)], check=True)
            install = [UV, "pip", "install", "--quiet", "--upgrade", "--python", str(folder / "bin/python"), *DISTRIBUTIONS]
            subprocess.run(install, check=True)
            mark.write_text(today)
    return folder
