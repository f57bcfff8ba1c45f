"""From a folder to an archive that may be sent: walk, inspect, write, and one list of everything that is wrong.

Whether refusals count is the caller's: `archive` and `install` take what `publish` refuses.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, cast

from market.cli.allowed_secrets import review_source
from market.disk.failures import disk_failures
from market.disk.walk import open_folder
from market.errors import InvalidInput, Severity
from market.pack.archive_read import read_archive
from market.pack.build import archive_pack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.disk.walk import Folder
    from market.errors import Problem
    from market.model import Pack
    from market.pack.build import Built
    from market.pack.inspect import Given
    from market.pack.secrets import Place

SPOOL_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Draft:
    """An archive made of a folder, with what was left out of it as (path, reason). `stream` is open while its context lasts."""

    folder: Path
    built: Built
    stream: BinaryIO
    left_out: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]
    allowed_secrets: frozenset[Place] = frozenset()

    @property
    def pack(self) -> Pack:
        """What the folder says of itself."""
        return self.built.pack

    @property
    def files(self) -> list[dict[str, object]]:
        """Every file that is in the archive, with its size."""
        return [
            {"path": file.path, "size": file.size, "executable": file.executable} for file in self.built.record.files
        ]


@contextmanager
def build_folder(path: Path, given: Given) -> Iterator[Draft]:
    """Make the archive of a folder in a temporary file that is gone after the block. Raises `InvalidInput` with every error."""
    if path.exists() and not path.is_dir():
        raise InvalidInput(
            f"{path} is not a folder",
            hint=f"`market upload {path}` sends an archive, `market install {path}` installs one",
        )
    with disk_failures("write a temporary file for", path), tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        stream = cast("BinaryIO", spool)
        with open_folder(path) as folder:
            built = _archive(path, folder, given, stream)
        stream.seek(0)
        yield Draft(path, built, stream, folder.left_out, (*folder.problems, *built.problems))


def check_publishable(draft: Draft, ignored_rules: frozenset[str] = frozenset()) -> None:
    """Raise `InvalidInput` where an index would refuse the pack."""
    refusals = [
        problem
        for problem in draft.problems
        if problem.severity is Severity.REFUSAL and problem.rule not in ignored_rules
    ]
    if refusals:
        raise InvalidInput(
            f"{draft.folder} can't be published", problems=refusals, hint="correct this and publish again"
        )


def review_draft(draft: Draft, allowed_secrets: frozenset[Place] = frozenset()) -> Draft:
    """Return a draft with what the review of its files says; raises `InvalidInput` for secrets that weren't allowed."""
    draft.stream.seek(0)
    reviewed = review_source(read_archive(draft.stream), draft.pack, str(draft.folder), allowed_secrets)
    draft.stream.seek(0)
    return replace(draft, problems=(*draft.problems, *reviewed), allowed_secrets=allowed_secrets)


def warning_lines(problems: tuple[Problem, ...]) -> list[str]:
    """Return what is odd but stops nothing."""
    return [line for problem in problems if problem.severity is Severity.WARNING for line in str(problem).splitlines()]


def _archive(path: Path, folder: Folder, given: Given, stream: BinaryIO) -> Built:
    """Write the archive; what the walk and the inspection found wrong comes in one error that names the folder."""
    try:
        built = archive_pack(folder.source, given, stream)
    except InvalidInput as error:
        raise _not_good(path, (*folder.problems, *error.problems)) from None
    if any(problem.severity is Severity.ERROR for problem in folder.problems):
        raise _not_good(path, (*folder.problems, *built.problems))
    return built


def _not_good(path: Path, problems: tuple[Problem, ...]) -> InvalidInput:
    stopping = [problem for problem in problems if problem.severity is not Severity.WARNING]
    return InvalidInput(
        f"{path} is not a good pack", problems=stopping, hint=f"correct this; `market check {path}` shows everything"
    )
