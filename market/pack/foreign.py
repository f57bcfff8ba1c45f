"""What the readers of foreign archives share: members, limits, and the refusal. The formats are in `foreign_zip` and `foreign_tar`.

A foreign archive's *structure* is held to rules as strict as the canonical one's: no reader may see another tree in it. What its
*names* and modes say is only decoded here; what becomes of them is in `import_names`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.errors import Untrusted
from market.pack.rules import make_problem
from market.pack.zip_format import MAX_ARCHIVE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.errors import Problem

# Folders and Finder's second file for each file count too, so it may be more than a pack has files.
MAX_MEMBERS = 20_000
# What all files together may become. No canonical archive is larger.
MAX_CONTENT_BYTES = MAX_ARCHIVE_BYTES
MAX_RATIO = 100
RATIO_FREE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Member:
    """One file or folder as the archive has it. `mode` is None where the archive carries none; `mark` is the reader's own."""

    path: str
    is_folder: bool
    size: int
    mode: int | None
    mark: int


@dataclass(frozen=True, slots=True)
class Foreign:
    """An archive whose structure is sound: what form it had, what is in it, how a file is read, and what decoding names changed."""

    form: str
    members: tuple[Member, ...]
    read: Callable[[Member], bytes]
    changes: tuple[Problem, ...]


def refuse(rule: str, text: str, path: str = "") -> Untrusted:
    """Make the error for one broken rule."""
    return refuse_all([make_problem(rule, text, path)])


def refuse_all(problems: Sequence[Problem]) -> Untrusted:
    """Make the error for an archive with problems."""
    first = problems[0]
    return Untrusted(f"the archive is refused: {first.text}", why=first.reason, hint=first.fix, problems=problems)


def check_ratio(produced: int, consumed: int, what: str) -> None:
    """Raise `Untrusted` where bytes grew more than a hundredfold; the first megabyte is free."""
    if produced > RATIO_FREE_BYTES and produced > MAX_RATIO * max(consumed, 1):
        raise refuse("archive-bomb", f"{what} grows from {consumed:,} to more than {produced:,} bytes")


def check_total(size: int) -> None:
    """Raise `Untrusted` where the files together are more than an archive may hold."""
    if size > MAX_CONTENT_BYTES:
        raise refuse("archive-too-large", f"the files have {size:,} bytes, more than {MAX_CONTENT_BYTES:,}")
