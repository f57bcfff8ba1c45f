"""Valid-by-default values for tests: `a_skill_json(name="x")`, `a_source({...})`, ... Each takes what the test is about."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.pack.source import MemorySource

if TYPE_CHECKING:
    from collections.abc import Mapping

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
