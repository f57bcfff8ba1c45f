"""docs/plugins.md, word for word: its files are written, its commands run in one shell, and they print what it says.

The shell starts with a Python and nothing else: what the page doesn't have people install isn't there.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.flows.processes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = REPOSITORY / "docs" / "plugins.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\bin \d+\.\d+s")
SYSTEM = "/usr/bin:/bin"
MARK = "--- exit code"


def steps(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield ("file", path, content) and ("run", command, output) in the order of the page."""
    for language, title, content in BLOCK.findall(text):
        if title:
            yield "file", title, content
        elif language == "console":
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
                yield "run", command, output


def script(page: str) -> str:
    """The page as one shell script that says after each command how it ended."""
    lines = []
    for kind, what, text in steps(page):
        if kind == "file":
            lines.append(f"mkdir -p {Path(what).parent} && cat > {what} <<'END OF FILE'\n{text}END OF FILE\n")
        else:
            lines.append(f"{what}\necho {MARK} $?: {shlex.quote(what)}\n")
    return "".join(lines)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of somebody with a Python, a package index that has Market as it is built from here, and no more."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python3").write_text(f'#!/bin/sh\nexec "{os.path.realpath(sys.executable)}" "$@"\n')
    (folder / "python3").chmod(0o755)
    build = [str(Path(sys.executable).with_name("uv")), "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(tmp_path / "built")]
    subprocess.run([*build, str(REPOSITORY)], check=True)
    path = f"{folder}:/usr/bin:/bin"
    assert not [program for program in ("market", "uv", "pytest", "ruff", "mypy") if shutil.which(program, path=path)]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MARKET_", "PYTHON", "VIRTUAL_ENV"))}
    return {**kept, "PATH": path, "PIP_FIND_LINKS": str(tmp_path / "built"), "MARKET_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}


@pytest.mark.flow
def test_the_tutorial_works_word_for_word(tmp_path: Path, shell: dict[str, str]) -> None:
    page, where = PAGE.read_text(), tmp_path / "somewhere"
    where.mkdir()
    ran = subprocess.run(["bash", "-c", script(page)], cwd=where, env=shell, capture_output=True, text=True, timeout=300, check=False)
    printed = SECONDS.sub("in 0.01s", ran.stdout).splitlines()
    wanted = [SECONDS.sub("in 0.01s", f"{text}{MARK} 0: {what}") for kind, what, text in steps(page) if kind == "run"]
    assert printed == "\n".join(wanted).splitlines(), ran.stderr
    assert len(wanted) >= 12
    installed = where / ".venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "market"
    assert (installed / "pack" / "templates_plugin.py").read_bytes() == (REPOSITORY / "market" / "pack" / "templates_plugin.py").read_bytes()
