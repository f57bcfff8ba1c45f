"""One JSON object a line, appended whole, so that several processes may write to one file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.home import load_home, make_private_directory

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "MARKET_AUDIT_JSONL"
FILE_NAME = "audit.jsonl"
MAX_TEXT_CHARACTERS = 4_000
"""Of one text in a line: arguments and errors may be of any size."""


def lines_path(environ: Mapping[str, str]) -> Path:
    """Return the file that the variable names, or the one in MARKET_HOME."""
    named = environ.get(VARIABLE, "")
    return Path(named) if named else load_home(environ).path / FILE_NAME


def bound_text(text: str) -> str:
    """Return a text that fits into a line; what is cut off is said."""
    left_out = len(text) - MAX_TEXT_CHARACTERS
    return text if left_out <= 0 else f"{text[:MAX_TEXT_CHARACTERS]}... ({left_out} characters more)"


def append_line(path: Path, values: Mapping[str, object]) -> None:
    """Append one line in one write. The file is opened anew, so that it may be rotated; only its owner may read it."""
    line = json.dumps(values, default=str).encode() + b"\n"
    make_private_directory(path.parent)
    with disk_failures("write to", path):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
