"""The verdict on a folder or an archive, all problems at once. The rules are in `market.pack`."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

from market.disk.failures import disk_failures
from market.disk.foreign import SCRATCH_MEMORY_BYTES
from market.disk.walk import open_folder
from market.errors import Problem, Severity, Untrusted
from market.installer.machine import Machine
from market.installer.needs import find_never
from market.pack.archive_read import read_archive
from market.pack.clients import judge_guides, worst_grade
from market.pack.explain import explain_files
from market.pack.importer import import_archive
from market.pack.inspect import Given, inspect_pack
from market.pack.review import review_pack
from market.pack.wheel import WHEEL_SUFFIX, read_wheel
from market.registry.findings import LACKING

if TYPE_CHECKING:
    from pathlib import Path

    from market.model import Pack, Skill
    from market.pack.clients import Grade, GuideVerdict
    from market.pack.source import Source


NOT_PROVEN = "wheel-not-proven"
NEVER_REASON = "on this machine it could never work, so it isn't installed here"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of one folder or archive. `pack` is None where nothing in it was recognised.

    `guides` are the verdicts of other programs; `files` says of each file what it counts as, where that was asked for.
    """

    path: Path
    pack: Pack | None
    problems: tuple[Problem, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    guides: tuple[GuideVerdict, ...] = ()
    files: tuple[tuple[str, str], ...] = ()

    @property
    def skills(self) -> tuple[Skill, ...]:
        """The skills that load."""
        return self.pack.skills if self.pack else ()

    @property
    def grade(self) -> Grade | None:
        """How far the pack's guides travel; None without guides."""
        return worst_grade(guide.grade for guide in self.guides)

    @property
    def is_installable(self) -> bool:
        """Whether nothing is wrong enough to keep it from being installed."""
        return self.pack is not None and not any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def is_installable_here(self) -> bool:
        """Whether it can also be installed on this machine, as it is now."""
        return self.is_installable and not any(problem.rule in (LACKING, NOT_PROVEN) for problem in self.problems)

    @property
    def is_publishable(self) -> bool:
        """Whether an index would take it."""
        return self.is_installable and not any(problem.severity is Severity.REFUSAL for problem in self.problems)

    @property
    def is_proven(self) -> bool:
        """Whether nothing stood in the way of proving what was to be proven."""
        return not any(problem.rule == NOT_PROVEN for problem in self.problems)

    @property
    def is_passed(self) -> bool:
        """Whether an index would take it, and nobody who asked for a proof would take this for one without it."""
        return self.is_publishable and self.is_proven


def check_path(path: Path, given: Given, *, explain: bool = False) -> Verdict:
    """Inspect a folder, an archive or a wheel's files. A broken structure is a verdict too, not an exception."""
    if path.suffix == WHEEL_SUFFIX and not path.is_dir():
        return _check_wheel(path, explain)
    return _check_folder(path, given, explain) if path.is_dir() else _check_archive(path, given, explain)


def _check_folder(path: Path, given: Given, explain: bool) -> Verdict:
    with open_folder(path) as folder:
        return _judge(path, folder.source, given, explain, folder.problems, folder.left_out)


def _check_archive(path: Path, given: Given, explain: bool) -> Verdict:
    with disk_failures("read", path), path.open("rb") as stream:
        try:
            source = read_archive(stream)
        except Untrusted:
            return _check_foreign(path, stream, given, explain)
        return _judge(path, source, given, explain)


def _check_wheel(path: Path, explain: bool) -> Verdict:
    with disk_failures("read", path), path.open("rb") as stream:
        try:
            source = read_wheel(stream, path.name).source
        except Untrusted as error:
            return Verdict(path, None, error.problems)
        return _judge(path, source, Given(), explain)


def _check_foreign(path: Path, stream: BinaryIO, given: Given, explain: bool) -> Verdict:
    """Inspect what an import would make of an archive that isn't canonical; its changes are warnings."""
    try:
        with tempfile.SpooledTemporaryFile(SCRATCH_MEMORY_BYTES) as scratch:
            imported = import_archive(stream, cast("BinaryIO", scratch))
            return _judge(path, imported.source, given, explain, imported.changes)
    except Untrusted as error:
        if not error.problems:
            raise
        return Verdict(path, None, error.problems)


def _judge(
    path: Path,
    source: Source,
    given: Given,
    explain: bool,
    earlier: tuple[Problem, ...] = (),
    left_out: tuple[tuple[str, str], ...] = (),
) -> Verdict:
    inspection = inspect_pack(source, given)
    pack = inspection.pack
    reviewed = review_pack(source, pack) if pack else ()
    guides = judge_guides(source, pack) if pack else ()
    files = explain_files(source, pack, inspection.problems) if explain else ()
    elsewhere = _find_elsewhere(pack) if pack else ()
    return Verdict(path, pack, (*earlier, *inspection.problems, *reviewed, *elsewhere), left_out, guides, files)


def _find_elsewhere(pack: Pack) -> tuple[Problem, ...]:
    lacks = find_never(pack, Machine())
    if not lacks:
        return ()
    text = f"it needs {'; '.join(lack.text for lack in lacks)}"
    return (
        Problem(
            LACKING,
            Severity.WARNING,
            text,
            reason=NEVER_REASON,
            fix="; ".join(dict.fromkeys(lack.advice for lack in lacks)),
        ),
    )
