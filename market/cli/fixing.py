"""Safe corrections in a folder: the files are written, or only shown. What is safe is `market.pack.fixes`."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.disk.walk import open_folder
from market.errors import InvalidInput
from market.pack.fixes import propose_fixes
from market.pack.inspect import inspect_pack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from market.pack.fixes import Fix
    from market.pack.inspect import Given


@dataclass(frozen=True, slots=True)
class Fixed:
    """One file that was corrected, or would be: a line for each change, and the difference as a patch."""

    file: str
    changes: tuple[str, ...]
    diff: str


def fix_folder(path: Path, given: Given, *, front_matter: bool, line_ends: bool, dry_run: bool) -> tuple[Fixed, ...]:
    """Correct a folder's files. What is reached through a link stays: it may not be this pack's alone."""
    if not path.is_dir():
        raise InvalidInput(f"{path} is no folder", hint="unpack it, correct the folder, and make the archive again")
    with open_folder(path) as folder:
        pack = inspect_pack(folder.source, given).pack
        walked = folder.source.walked
        fixes = propose_fixes(folder.source, pack, front_matter=front_matter, line_ends=line_ends) if pack else ()
        own = [(fix, folder.source.read(fix.file)) for fix in fixes if walked[fix.file].place == fix.file]
    for fix, _ in () if dry_run else own:
        target = path / fix.file
        with disk_failures("write", target):
            write_atomic(target, fix.data, target.stat().st_mode & 0o777)
    return tuple(Fixed(fix.file, fix.changes, _diff(fix, old)) for fix, old in own)


def fixed_lines(fixed: Sequence[Fixed], *, dry_run: bool) -> list[str]:
    """Return what was done and the patches."""
    word = "would correct" if dry_run else "corrected"
    return [
        line
        for one in fixed
        for line in (*(f"  {word} {one.file}: {change}" for change in one.changes), *one.diff.splitlines())
    ]


def _diff(fix: Fix, old: bytes) -> str:
    """Return a unified difference; a carriage return is written out, so that a change of line ends can be seen."""
    before, after = (
        [line.replace("\r", "\\r") for line in data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")]
        for data in (old, fix.data)
    )
    return "\n".join(difflib.unified_diff(before, after, f"a/{fix.file}", f"b/{fix.file}", lineterm=""))
