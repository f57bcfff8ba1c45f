"""docs/plugins.md, word for word: its files are written, its commands run, and they print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent.parent.parent / "docs" / "plugins.md"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def steps(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield ("file", path, content) and ("run", command, output) in the order of the page."""
    for language, title, content in BLOCK.findall(text):
        if title:
            yield "file", title, content
        elif language == "console":
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
                yield "run", command, output


@pytest.mark.flow
def test_the_tutorial_works_word_for_word(tmp_path: Path) -> None:
    where = tmp_path
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MARKET_HOME": str(tmp_path / "home"),
        "NO_COLOR": "1",
    }
    done = []
    for kind, what, expected in steps(PAGE.read_text()):
        if kind == "file":
            (where / what).parent.mkdir(parents=True, exist_ok=True)
            (where / what).write_text(expected)
        elif what.startswith("cd "):
            where = where / what.removeprefix("cd ")
        else:
            ran = subprocess.run(
                ["bash", "-c", what],
                cwd=where,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert (what, ran.stdout, ran.returncode) == (what, expected, 0), ran.stderr
        done.append(kind)
    assert done.count("run") >= 8
    assert done.count("file") == 3
