"""The verdict on a folder or an archive, all problems at once. The rules are in `market.pack`."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from market.disk.failures import disk_failures
from market.disk.foreign import SCRATCH_MEMORY_BYTES
from market.disk.walk import open_folder
from market.errors import Severity, Untrusted
from market.pack.archive_read import read_archive
from market.pack.importer import import_archive
from market.pack.inspect import Given, inspect_pack

if TYPE_CHECKING:
    from pathlib import Path

    from market.errors import Problem
    from market.model import Pack, Skill


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of one folder or archive. `pack` is None where nothing in it was recognised."""

    path: Path
    pack: Pack | None
    problems: tuple[Problem, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that load."""
        return self.pack.skills if self.pack else ()

    @property
    def is_installable(self) -> bool:
        """Whether nothing is wrong enough to keep it from being installed."""
        return self.pack is not None and not any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def is_publishable(self) -> bool:
        """Whether an index would take it."""
        return self.is_installable and not any(problem.severity is Severity.REFUSAL for problem in self.problems)


def check_path(path: Path, given: Given) -> Verdict:
    """Inspect a folder or an archive. An archive with a broken structure is a verdict too, not an exception."""
    return _check_folder(path, given) if path.is_dir() else _check_archive(path, given)


def _check_folder(path: Path, given: Given) -> Verdict:
    with open_folder(path) as folder:
        inspection = inspect_pack(folder.source, given)
        return Verdict(path, inspection.pack, (*folder.problems, *inspection.problems), folder.left_out)


def _check_archive(path: Path, given: Given) -> Verdict:
    with disk_failures("read", path), path.open("rb") as stream:
        try:
            inspection = inspect_pack(read_archive(stream), given)
        except Untrusted:
            return _check_foreign(path, stream, given)
        return Verdict(path, inspection.pack, inspection.problems)


def _check_foreign(path: Path, stream: BinaryIO, given: Given) -> Verdict:
    """Inspect what an import would make of an archive that isn't canonical; its changes are warnings."""
    try:
        with tempfile.SpooledTemporaryFile(SCRATCH_MEMORY_BYTES) as scratch:
            imported = import_archive(stream, cast("BinaryIO", scratch))
            inspection = inspect_pack(imported.source, given)
    except Untrusted as error:
        if not error.problems:
            raise
        return Verdict(path, None, error.problems)
    return Verdict(path, inspection.pack, (*imported.changes, *inspection.problems))
