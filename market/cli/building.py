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
from market.pack.source import PartOfSource
from market.pack.wheel_tree import SITE_FOLDER, find_dist_info, own_paths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from market.errors import Problem
    from market.model import Pack
    from market.pack.build import Built
    from market.pack.inspect import Given
    from market.pack.secrets import Place
    from market.pack.source import Source

SPOOL_BYTES = 8 * 1024 * 1024
SITE_LEFT_OUT = "what it depends on: fetched where the archive is installed"


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
def build_folder(path: Path, given: Given, *, is_installed: bool = False) -> Iterator[Draft]:
    """Make the archive of a folder in a temporary file that is gone after the block. Raises `InvalidInput` with every error.

    Of the tree of an installed wheel (`is_installed`) it is what the wheel had: what was fetched for it is left out.
    """
    if path.exists() and not path.is_dir():
        raise InvalidInput(
            f"{path} is not a folder",
            hint=f"`market upload {path}` sends an archive, `market install {path}` installs one",
        )
    with disk_failures("write a temporary file for", path), tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        stream = cast("BinaryIO", spool)
        with open_folder(path) as folder:
            source, fetched = _own_part(folder.source) if is_installed else (folder.source, ())
            built = _archive(path, source, folder.problems, given, stream)
        stream.seek(0)
        yield Draft(path, built, stream, (*folder.left_out, *fetched), (*folder.problems, *built.problems))


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


def _own_part(source: Source) -> tuple[Source, tuple[tuple[str, str], ...]]:
    """Return an installed tree without what Market fetched for a wheel, and the line that says so."""
    paths = [file.path for file in source.files()]
    if not find_dist_info(paths) or len(own_paths(paths)) == len(paths):
        return source, ()
    return PartOfSource(source, frozenset({SITE_FOLDER})), ((SITE_FOLDER, SITE_LEFT_OUT),)


def _archive(path: Path, source: Source, walked: tuple[Problem, ...], given: Given, stream: BinaryIO) -> Built:
    """Write the archive; what the walk and the inspection found wrong comes in one error that names the folder."""
    try:
        built = archive_pack(source, given, stream)
    except InvalidInput as error:
        raise _not_good(path, (*walked, *error.problems)) from None
    if any(problem.severity is Severity.ERROR for problem in walked):
        raise _not_good(path, (*walked, *built.problems))
    return built


def _not_good(path: Path, problems: tuple[Problem, ...]) -> InvalidInput:
    stopping = [problem for problem in problems if problem.severity is not Severity.WARNING]
    return InvalidInput(
        f"{path} is not a good pack", problems=stopping, hint=f"correct this; `market check {path}` shows everything"
    )
