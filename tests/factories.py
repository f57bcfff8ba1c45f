"""Valid-by-default values for tests: `a_skill_json(name="x")`, `a_source({...})`, ... Each takes what the test is about."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from market.pack.source import MemorySource

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE_PACKS = Path(__file__).parent.parent / "sample-packs"

RUN_SCRIPT = b"#!/bin/sh\ncat\n"


def a_skill_json(**changes: object) -> bytes:
    """A good skill.json whose entry is `run.sh`; a change to None removes the field."""
    fields: dict[str, object] = {
        "name": "echo_args",
        "description": "Echo the arguments. Use when a test needs a command.",
        "entry": "run.sh",
        "class": "safe",
        "version": "1.0.0",
        **changes,
    }
    return json.dumps({key: value for key, value in fields.items() if value is not None}, indent=2).encode()


def a_skill_md(
    name: str = "greeting",
    description: str = "Greets. Use when somebody arrives.",
    *,
    extra: str = "",
    body: str = "# Greet\n\nSay hello.\n",
) -> bytes:
    """A good SKILL.md with version 1.0.0; `extra` goes into the front matter."""
    return (
        f'---\nname: {name}\ndescription: {description}\nmetadata:\n  version: "1.0.0"\n{extra}---\n\n{body}'.encode()
    )


def a_source(
    contents: Mapping[str, bytes] | None = None,
    *,
    name: str = "echo-args",
    executables: frozenset[str] = frozenset({"run.sh"}),
) -> MemorySource:
    """A tree in memory: by default a good command pack."""
    return MemorySource(
        contents or {"skill.json": a_skill_json(), "run.sh": RUN_SCRIPT}, name=name, executables=executables
    )


def a_source_of(folder: Path) -> MemorySource:
    """The files of a folder on disk as a tree in memory; by hand, so that tests of the pack need no room above it."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    executables = frozenset(name for name, path in files.items() if os.access(path, os.X_OK))
    return MemorySource({name: path.read_bytes() for name, path in files.items()}, name=folder.name, executables=executables)
