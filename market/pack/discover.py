"""The one written rule for which files of a tree are manifests (mission A1, DESIGN 3). Names only; nothing is read here.

Every folder with a `skill.json` or a `SKILL.md` is a skill, at any depth. Folders that start with a dot, `node_modules` and
`__pycache__` are passed over. Below a folder with a SKILL.md another SKILL.md is that skill's content; a skill.json still counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from market.pack.paths import MAX_DEPTH
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from market.errors import Problem
    from market.pack.source import SourceFile

GUIDE_FILE = "SKILL.md"
COMMAND_FILE = "skill.json"
PASSED_OVER = frozenset({"node_modules", "__pycache__"})

_NEAR_NAMES = frozenset(
    {
        "skills.md",
        "skill.markdown",
        "skill.txt",
        "skills.json",
        "skill.yaml",
        "skill.yml",
        "skill.md.txt",
        "skill.json.txt",
    }
)


@dataclass(frozen=True, slots=True)
class Found:
    """What the names tell: the folders that are skills, sorted, with which manifests each holds."""

    guides: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    odd_spellings: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def folders(self) -> list[str]:
        """The skills' folders in path order, the pack's top (empty) first."""
        return sorted(self.guides | self.commands, key=lambda folder: folder.encode())


@dataclass
class _Names:
    """The manifests' names by folder, before the rule about nested guides."""

    guides: set[str] = field(default_factory=set)
    commands: set[str] = field(default_factory=set)
    odd: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def discover(files: Iterable[SourceFile], within: Sequence[str] | None = None) -> Found:
    """Find the skills of a tree. `within` limits the search to these folders and what lies below them."""
    names = _Names()
    for file in files:
        if "skill" in file.path.lower():
            folder, _, name = file.path.rpartition("/")
            _sort_in(file.path, folder, name, names)
    guides, commands = (
        {folder for folder in found if _is_searched(folder, within)} for found in (names.guides, names.commands)
    )
    nested = {folder for folder in guides if any(parent in guides for parent in _parents(folder))}
    problems = [*names.problems, *(_nested_problem(folder, guides) for folder in sorted(nested))]
    odd = tuple(path for path in names.odd if _is_searched(path.rpartition("/")[0], within))
    return Found(frozenset(guides - nested), frozenset(commands), odd, tuple(problems))


def _sort_in(path: str, folder: str, name: str, names: _Names) -> None:
    parts = folder.split("/") if folder else []
    if any(part.startswith(".") or part in PASSED_OVER for part in parts) or len(parts) > MAX_DEPTH:
        return
    if name == GUIDE_FILE:
        names.guides.add(folder)
    elif name == COMMAND_FILE:
        names.commands.add(folder)
    elif name.lower() in ("skill.md", "skill.json"):
        names.odd.append(path)
    elif name.lower() in _NEAR_NAMES:
        wanted = COMMAND_FILE if "json" in name.lower() else GUIDE_FILE
        names.problems.append(make_problem("manifest-near", f"{name!r} is not read; did you mean {wanted!r}?", path))
    if parts and parts[-1] in (GUIDE_FILE, COMMAND_FILE):
        names.problems.append(make_problem("manifest-folder", f"{folder!r} is a folder, not a manifest", folder))


def _is_searched(folder: str, within: Sequence[str] | None) -> bool:
    return within is None or any(not top or folder == top or folder.startswith(f"{top}/") for top in within)


def _parents(folder: str) -> Iterable[str]:
    while folder:
        folder = folder.rpartition("/")[0]
        yield folder


def _nested_problem(folder: str, guides: set[str]) -> Problem:
    parent = next(parent for parent in _parents(folder) if parent in guides)
    where = f"the skill in {parent!r}" if parent else "the skill at the top"
    return make_problem("skill-nested", f"{folder}/{GUIDE_FILE} counts as content of {where}", f"{folder}/{GUIDE_FILE}")
