"""Verdicts as a SARIF file, or on stdout. The form is `market.pack.sarif`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.pack.sarif import dump_sarif
from market.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.cli.checking import Verdict


def write_sarif(verdicts: Sequence[Verdict], file: str) -> None:
    """Write the problems of all verdicts as one SARIF run; `-` is stdout."""
    document = dump_sarif([(str(verdict.path), verdict.problems) for verdict in verdicts], __version__)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if file == "-":
        click.echo(text, nl=False)
        return
    with disk_failures("write", Path(file)):
        write_atomic(Path(file), text.encode("utf-8", "replace"))
