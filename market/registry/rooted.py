"""Entries against the allow-list root (mission A5, A14): where a manifest's `entry` really leads, links followed.

A pack that is published keeps its entry inside itself. In a root on this machine an entry may also lie elsewhere below the root:
such a manifest is shown to the parser with the absolute path, which it takes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from market.errors import Severity
from market.pack.source import MemorySource, SourceFile
from market.registry.log_lines import escape_cause
from market.registry.roots import leaves_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from market.errors import Problem
    from market.pack.source import Source

COMMAND_FILE = "skill.json"
OUTSIDE_RULES = frozenset({"entry-escapes", "entry-missing"})
MAX_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True)
class PartOfSource:
    """A tree without some folders at its top, and with some files' bytes replaced or added."""

    whole: Source
    left_out: frozenset[str] = frozenset()
    replaced: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The whole tree's name."""
        return self.whole.name

    def files(self) -> Sequence[SourceFile]:
        """Return the files that aren't left out, and those that only stand in `replaced`."""
        files = [file for file in self.whole.files() if file.path.partition("/")[0] not in self.left_out]
        added = self.replaced.keys() - {file.path for file in files} if self.replaced else ()
        files += (SourceFile(path, len(self.replaced[path]), executable=False) for path in added)
        return tuple(sorted(files, key=lambda file: file.path.encode())) if added else tuple(files)

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self.replaced[path] if path in self.replaced else self.whole.read(path)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return MemorySource(self.replaced).open(path) if path in self.replaced else self.whole.open(path)


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
