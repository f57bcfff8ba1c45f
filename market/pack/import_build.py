"""The second step of an import: write the tree canonically, read it again strictly, and say what became of executable bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.errors import Untrusted
from market.pack.archive_read import read_archive
from market.pack.build import archive_pack
from market.pack.importer import import_archive
from market.pack.record import make_record
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from market.errors import Problem
    from market.pack.build import Built
    from market.pack.importer import Imported
    from market.pack.inspect import Given

# Of a long list of like changes that many are written out, the rest is counted.
MAX_LIKE_CHANGES = 20


@dataclass(frozen=True, slots=True)
class Converted:
    """A canonical archive made of a foreign one, and everything that was changed on the way."""

    built: Built
    changes: tuple[Problem, ...]


def convert_archive(stream: BinaryIO, given: Given, scratch: BinaryIO, out: BinaryIO) -> Converted:
    """Import an archive and write its canonical form into `out`. All three streams must be seekable.

    Raises `Untrusted` for the archive and `InvalidInput` for the pack in it; then `out` holds nothing that may be used.
    """
    imported = import_archive(stream, scratch)
    built = archive_pack(imported.source, given, out)
    # What is written must be what the strict reader sees, or one of the two is wrong.
    if make_record(read_archive(out)) != built.record:
        raise Untrusted("the imported archive doesn't read as it was written", why="its record differs")
    out.seek(0)
    changes = (*imported.changes, *_describe_executables(imported, built))
    return Converted(built, _shorten(changes))


def _describe_executables(imported: Imported, built: Built) -> list[Problem]:
    had = {file.path: file.executable for file in imported.source.files()}
    changed = [file for file in built.record.files if file.executable != had[file.path]]
    return [
        make_problem("import-executable", f"{file.path!r} is an entry and now executable", file.path)
        if file.executable
        else make_problem("import-plain", f"{file.path!r} is no longer executable", file.path)
        for file in changed
    ]


def _shorten(changes: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Keep the first of many like changes and count the rest."""
    counts: dict[str, int] = {}
    kept: list[Problem] = []
    for change in changes:
        counts[change.rule] = counts.get(change.rule, 0) + 1
        if counts[change.rule] <= MAX_LIKE_CHANGES:
            kept.append(change)
    rest = {rule: count - MAX_LIKE_CHANGES for rule, count in counts.items() if count > MAX_LIKE_CHANGES}
    return (*kept, *(make_problem(rule, f"and the same for {count} more") for rule, count in rest.items()))
