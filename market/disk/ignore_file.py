"""What an author leaves out of a pack: the file `.marketignore`, in the syntax of .gitignore. What is left out anyway is `left_out.py`.

It stands at the folder's top, and is itself not part of the pack. A manifest can't be left out by a pattern for files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.folder_rules import folder_problem

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    from market.errors import Problem

IGNORE_FILE = ".marketignore"
MAX_IGNORE_BYTES = 64 << 10
MAX_IGNORE_LINES = 1_000

_MANIFESTS = re.compile(
    r"(?:.*/)?(?:SKILL\.md|skill\.json)|pack\.yaml|openclaw\.plugin\.json|\.claude-plugin(?:/plugin\.json)?"
)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one `.marketignore`; `lines` are the numbers of their lines."""

    patterns: GitIgnoreSpec
    lines: tuple[int, ...]

    def judge(self, path: str, *, is_directory: bool) -> tuple[bool | None, str]:
        """Return whether an entry is left out, and by which line. None where no pattern matches, False where one takes it back in."""
        result = self.patterns.check_file(path + "/" if is_directory else path)
        line = self.lines[result.index] if result.index is not None else 0
        return result.include, f"{IGNORE_FILE}:{line}"


def is_manifest(path: str) -> bool:
    """Whether a path is a manifest, or the folder that holds only one.

    >>> is_manifest("a/SKILL.md"), is_manifest("a/pack.yaml")
    (True, False)
    """
    return bool(_MANIFESTS.fullmatch(path))


def parse_ignore_file(data: bytes) -> tuple[IgnoreRules | None, tuple[Problem, ...]]:
    """Parse a `.marketignore`. One that can't be read is an error: without it too much would be given away."""
    if len(data) > MAX_IGNORE_BYTES or data.count(b"\n") > MAX_IGNORE_LINES:
        return None, (folder_problem("folder-ignore-file", IGNORE_FILE, f"more than {MAX_IGNORE_LINES:,} lines"),)
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return None, (folder_problem("folder-ignore-file", IGNORE_FILE, "it is not UTF-8"),)
    # Imported at use: it takes longer than a whole check, and few folders have such a file.
    from pathspec import GitIgnoreSpec

    problems = []
    for number, line in enumerate(lines, 1):
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError as error:
            text = f"line {number}: {line[:80]!r} is no pattern: {error}"
            problems.append(folder_problem("folder-ignore-file", IGNORE_FILE, text, line=number))
    if problems:
        return None, tuple(problems)
    kept = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    patterns = GitIgnoreSpec.from_lines([_spell(line) for _, line in kept])
    return IgnoreRules(patterns, tuple(number for number, _ in kept)), ()


def _spell(line: str) -> str:
    """`src/**` means what lies in `src`, in git; the library takes it for the folder too, from which nothing could be taken back in."""
    return f"{line.rstrip()}/*" if line.rstrip().endswith("/**") else line
