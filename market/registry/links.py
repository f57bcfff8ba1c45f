"""Symbolic links in roots: which are followed, and why another one isn't.

What a link right below a root leads to is loaded as a unit of its own where an operator allowed it (`link targets`); the same holds for
a manifest that is a link. A link to a folder below a root says nothing: that folder is loaded where it lies.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import Problem, Severity
from market.installer.root import parse_root_list
from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.registry.roots import is_link, is_unit_folder
from market.registry.unit import Dropped, UnitId

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TARGETS_VARIABLE = "MARKET_HOST_LINK_TARGETS"
TARGETS_FLAG = "--link-target"
MAX_LINKED_MANIFEST_BYTES = 1 << 20

_MANIFESTS = frozenset({GUIDE_FILE, COMMAND_FILE})
_RULE_START = "folder-link-"


def read_link_targets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders of the environment into which links may lead."""
    return tuple(str(path) for path in parse_root_list(environ.get(TARGETS_VARIABLE, "")).paths)


def find_target(path: str, targets: Iterable[str]) -> str:
    """Return the allowed folder, links resolved, in which a path really lies or which it is; empty where there is none."""
    real = os.path.realpath(path)
    return next(
        (target for target in map(os.path.realpath, targets) if f"{real}/".startswith(f"{target.rstrip('/')}/")), ""
    )


def judge_link(path: str, root: str) -> Problem:
    """Say what is wrong with a link that isn't followed: the rule, where it leads, and what would allow it."""
    real, root = os.path.realpath(path), os.path.realpath(root)
    if not os.path.exists(real):  # noqa: PTH110 - strings all the way
        text = f"it is a dangling link: {real} is not there"
        if is_link(real):
            text = "it is a link that leads back to itself"
        return _problem("broken", text, "correct the link or delete it")
    if f"{root}/".startswith(f"{real}/"):
        return _problem("loop", f"it is a link to {real}, a folder above it", "delete the link")
    if real.startswith(f"{root.rstrip('/')}/"):
        return _problem(
            "outside", f"it is a link that leaves its own folder, to {real}", "copy the file to where the link is"
        )
    fix = f"name that folder as a root, or allow it with {TARGETS_FLAG} or {TARGETS_VARIABLE}"
    return _problem("outside", f"it is a link that leaves the root, to {real}", fix)


def dropped_link(path: str, root: str) -> Dropped:
    """Return the row of a link that isn't followed."""
    problem = judge_link(path, root)
    return Dropped(path, "", f"{problem.text} ({problem.rule}): {problem.fix}", (problem,))


def find_linked_manifests(
    unit: UnitId, problems: Iterable[Problem], targets: tuple[str, ...]
) -> tuple[dict[str, bytes], tuple[Dropped, ...]]:
    """Sort the manifests of a folder that are links out of it: the bytes of those that are allowed, and rows for the others."""
    files = [
        one.file for one in problems if one.rule.startswith(_RULE_START) and one.file.rpartition("/")[2] in _MANIFESTS
    ]
    linked: dict[str, bytes] = {}
    dropped: list[Dropped] = []
    for file in files:
        data = read_linked(f"{unit.path}/{file}", targets)
        if data is None:
            dropped.append(dropped_link(f"{unit.path}/{file}", unit.root))
        else:
            linked[file] = data
    return linked, tuple(dropped)


def read_linked(path: str, targets: tuple[str, ...]) -> bytes | None:
    """Return the bytes of a file behind a link into an allowed folder; None where it isn't one, or can't be read."""
    if not find_target(path, targets) or not Path(path).is_file():
        return None
    try:
        with Path(os.path.realpath(path)).open("rb") as stream:
            return stream.read(MAX_LINKED_MANIFEST_BYTES)
    except OSError:
        return None


class LinkedFolders:
    """Finds what links right below some roots lead to, as far as it is allowed: one unit a folder, however many links lead there."""

    def __init__(self, roots: Iterable[str], targets: tuple[str, ...]) -> None:
        self._roots = tuple(roots)
        self._targets = targets

    def find(self) -> tuple[UnitId, ...]:
        """Return the folders as units of the allowed folder that they lie in."""
        return tuple(dict.fromkeys(unit for root in self._roots for unit in self._find(root))) if self._targets else ()

    def _find(self, root: str) -> Iterable[UnitId]:
        try:
            names = sorted(os.listdir(root))
        except OSError:
            return
        for name in names:
            path = f"{root}/{name}"
            if is_link(path) and is_unit_folder(root, name, self._roots) and Path(path).is_dir():
                real = os.path.realpath(path)
                if target := find_target(path, self._targets):
                    yield UnitId(target, os.path.relpath(real, target) if real != target else "")


def _problem(kind: str, text: str, fix: str) -> Problem:
    reason = "only what lies below a root, or in a folder that was allowed, is loaded"
    return Problem(f"{_RULE_START}{kind}", Severity.ERROR, text, reason=reason, fix=fix)
