"""Running uv: which program, in which environment, and never under the settings of a folder that it happens to stand in."""

from __future__ import annotations

import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from market.cancellation import NEVER
from market.disk.failures import disk_failures
from market.disk.remove import remove_tree
from market.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from market.cancellation import Cancellation

UV_SECONDS = 300.0
MAX_SAID_CHARACTERS = 4000
_LEASH = Path(__file__).with_name("leash.py")

# uv reads none of pip's variables; somebody who has set only these means the same.
_AS_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
_UV_INDEXES = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_CONFIG_FILE")


class UvFailed(Exception):
    """uv ended with an error; its last words."""


@contextmanager
def open_workplace() -> Iterator[Path]:
    """Give a temporary folder for one use of uv.

    uv takes settings from the nearest `uv.toml` or `pyproject.toml` upwards: the current folder may be somebody else's project,
    and into the folder of all temporary files anybody may put one. The empty one here ends the search.
    """
    with disk_failures("write a temporary folder in", Path(tempfile.gettempdir())):
        work = Path(tempfile.mkdtemp(prefix="market-uv-"))
        (work / "uv.toml").touch()
    try:
        yield work
    finally:
        remove_tree(work)


def run_uv(
    words: Sequence[str], said: str, work: Path, environ: Mapping[str, str], cancellation: Cancellation = NEVER
) -> str:
    """Run `uv pip WORDS` for this Python, with `said` as its standard input, and return what it prints.

    `work` is of `open_workplace`. Paths in the environment are still seen from the current folder, as whoever set them meant.
    It ends with this process, however that ends. Raises `UvFailed` with its last words, `Unavailable` where it is missing, can't be
    started, or was cancelled.
    """
    program = find_uv(environ)
    command = [program, "pip", *words, "--project", str(work), "--python", sys.executable, "--no-python-downloads"]
    try:
        process = _start([*command, "--no-progress", "--quiet"], _environment(environ))
    except OSError as error:
        raise Unavailable("uv can't be started", why=f"{program}: {error.strerror}") from None
    with process, cancellation.on_cancel(functools.partial(_kill, process)):
        try:
            out, err = process.communicate(said, UV_SECONDS)
        except subprocess.TimeoutExpired:
            raise UvFailed(f"it took more than {UV_SECONDS:g} s") from None
        finally:
            # Also where a signal breaks into the wait.
            _kill(process)
    if cancellation.why:
        raise Unavailable("uv was ended, which fetches what a wheel pack depends on", why=cancellation.why)
    if process.returncode:
        raise UvFailed(_last_words(err))
    return out


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a program on a leash, in a session of its own: it's ended with all that it starts, and Ctrl-C reaches us first."""
    leash = [sys.executable, "-I", "-S", str(_LEASH), str(os.getpid())]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*leash, *command], env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def _kill(process: subprocess.Popen[str]) -> None:
    """End a process with its session; one that has ended isn't harmed."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


def find_uv(environ: Mapping[str, str]) -> str:
    """Return the path of the program uv: the one beside this Python, else the one on PATH."""
    beside = Path(sys.executable).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv", path=environ.get("PATH", os.defpath))
    if found is None:
        raise Unavailable(
            "uv is missing, which fetches what a wheel pack depends on",
            hint="pip install 'skill-market[plugins]', or install with --no-deps",
        )
    return found


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return uv's environment: this one without Market's own secrets, with pip's settings where uv has none."""
    kept = {key: value for key, value in environ.items() if not key.startswith("MARKET_")}
    if not any(kept.get(key) for key in _UV_INDEXES):
        kept |= {uv: kept[pip] for pip, uv in _AS_UV.items() if kept.get(pip) and not kept.get(uv)}
    return kept


def _last_words(text: str) -> str:
    words = " ".join(line.strip() for line in text.splitlines() if line.strip())
    return words[-MAX_SAID_CHARACTERS:] or "uv gives no reason"
