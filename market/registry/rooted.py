"""Entries against the allow-list root (mission A5, A14): where a manifest's `entry` really leads, links followed.

A pack that is published keeps its entry inside itself. In a root on this machine an entry may also lie elsewhere below the root:
such a manifest is shown to the parser with the absolute path, which it takes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.errors import Severity
from market.registry.log_lines import escape_cause
from market.registry.roots import leaves_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.errors import Problem
    from market.pack.source import Source

COMMAND_FILE = "skill.json"
OUTSIDE_RULES = frozenset({"entry-escapes", "entry-missing"})
MAX_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Outside:
    """Entries that leave their pack: manifests to read with another entry, and those whose entry leaves the root, with the cause."""

    rewritten: Mapping[str, bytes]
    escaped: Mapping[str, str]


def find_outside(source: Source, problems: Iterable[Problem], unit: str, root: str) -> Outside:
    """Follow the entries that the parser couldn't find in the pack."""
    rewritten: dict[str, bytes] = {}
    escaped: dict[str, str] = {}
    for problem in problems:
        if problem.rule not in OUTSIDE_RULES or problem.severity is not Severity.ERROR:
            continue
        fields = load_fields(source, problem.file)
        real = resolve(f"{unit}/{problem.file}", str(fields.get("entry", "")))
        if leaves_root(real, root):
            escaped[problem.file] = escape_cause(real, os.path.realpath(root))
        elif Path(real).is_file():
            rewritten[problem.file] = json.dumps({**fields, "entry": real}).encode()
    return Outside(rewritten, escaped)


def resolve(manifest_path: str, entry: str) -> str:
    """Return where an entry really is: relative to its manifest's directory, all links followed."""
    return os.path.realpath(Path(manifest_path).parent / entry)


def load_fields(source: Source, manifest: str) -> dict[str, Any]:
    """Return a manifest's fields as far as they can be read, for naming it in a log line."""
    try:
        fields = json.loads(source.read(manifest)[:MAX_MANIFEST_BYTES])
    except (ValueError, KeyError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
