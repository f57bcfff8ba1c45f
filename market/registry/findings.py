"""What the registry itself finds about a skill, as problems: edited, held, lacking something, refused entry. Pure.

The rules of packs are `market.pack.rules`; these speak of this machine and this tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.installer.machine import Lack

SHOWN_FILES = 5
LACKING = "machine-lacks"


def lacking(missing: Sequence[Lack]) -> Problem:
    """Say what a skill needs that this machine doesn't have, and how to get it."""
    return Problem(
        LACKING,
        Severity.WARNING,
        f"it needs {'; '.join(lack.text for lack in missing)}",
        reason="the skill says so in its needs",
        fix=f"{'; '.join(dict.fromkeys(lack.advice for lack in missing))}; then rescan",
    )


def edited(files: Sequence[str]) -> Problem:
    """Say that files of an installed tree were changed."""
    return Problem(
        "tree-edited",
        Severity.WARNING,
        f"changed since it was installed: {_shown(files)}",
        reason="the tree isn't the one of its receipt",
        fix="reinstall the pack, or accept the edit with `market verify --accept`",
    )


def held(files: Sequence[str]) -> Problem:
    """Say that a skill that changes things doesn't run, because its pack's recorded files were changed."""
    return Problem(
        "tree-held",
        Severity.WARNING,
        f"files were changed since it was installed: {_shown(files)}",
        reason="what it does may not be what was reviewed and approved",
        fix="reinstall the pack, or accept the edit with `market verify --accept`",
    )


def disabled(name: str) -> Problem:
    """Say that somebody switched a skill off."""
    return Problem(
        "switched-off",
        Severity.WARNING,
        "somebody switched it off in this root",
        reason="it stays off, through upgrades too, until it is switched on",
        fix=f"switch it on with `market enable {name}`",
    )


def code_fails(why: str) -> Problem:
    """Say that a python skill's code can't be used, as its pack's worker found when it started."""
    return Problem(
        "code-fails",
        Severity.ERROR,
        f"its code can't be used: {why}",
        reason="a worker was started for the pack, and this is what came of it",
        fix="correct the pack, or return to its earlier version with `market rollback`; `market host reload` tries it again",
    )


def escaped(cause: str, file: str) -> Problem:
    """Say that an entry, links followed, leaves its root."""
    return Problem(
        "entry-escapes",
        Severity.ERROR,
        cause,
        file,
        reason="only programs under an allow-listed root may run",
        fix="copy the program into the pack",
    )


def distribution_broken(name: str, why: str) -> Problem:
    """Say why a plugin pack that somebody installed into this program's own environment leads to nothing that loads."""
    return Problem(
        "distribution-broken",
        Severity.ERROR,
        why,
        reason="a plugin pack is found by its METADATA and entry_points.txt, which lead to its package",
        fix=f"install {name} again, or uninstall it, with the installer that put it there",
    )


def _shown(files: Sequence[str]) -> str:
    more = len(files) - SHOWN_FILES
    return ", ".join(files[:SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
