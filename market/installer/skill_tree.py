"""A pack as trees of one skill each, for roots of layout `skills`: what lies in each directory, and what it is called. Pure."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from market.errors import InvalidInput, MarketError
from market.installer.references import find_leaving
from market.installer.skill_guide import write_skill_guide
from market.model import Kind
from market.names import parse_pack_name
from market.pack.record import Record, make_record
from market.pack.source import SourceFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.model import Skill
    from market.names import PackName
    from market.pack.source import Source
    from market.trust.verify import VerifiedPack

GUIDE_FILE = "SKILL.md"


@dataclass(frozen=True)
class SkillTree:
    """One skill's directory: its name in the root, and its files."""

    name: PackName
    skill: Skill
    source: Source
    record: Record


def split_pack(verified: VerifiedPack) -> tuple[SkillTree, ...]:
    """Return a tree for each skill of a pack.

    Raises `InvalidInput` with the line of every reference that leaves its skill's folder, and for a name that can't be a
    folder's. That names differ is the transaction's to check.
    """
    pack = verified.pack
    if python := [skill.name for skill in pack.skills if skill.kind is Kind.PYTHON]:
        raise InvalidInput(
            f"{pack.name} can't be installed skill by skill: the code of {', '.join(python)} is in the whole package",
            why="other programs read folders of text and executables; python skills run in Market's workers",
            hint="install it into a root of Market (without --target)",
        )
    problems = [problem for skill in pack.skills for problem in find_leaving(verified.source, skill.folder)]
    if problems:
        raise InvalidInput(
            f"{pack.name} can't be installed skill by skill: files refer to what lies outside their skill's folder",
            problems=problems,
            hint="install it into a root of Market (without --target), or ask its author to keep skills self-contained",
        )
    return tuple(_make_tree(verified, skill) for skill in pack.skills)


def _make_tree(verified: VerifiedPack, skill: Skill) -> SkillTree:
    name = _folder_name(verified.name, skill)
    added: dict[str, bytes] = {}
    if skill.guide is None:
        added[GUIDE_FILE] = write_skill_guide(verified.name, verified.version, name, skill)
    source = _Part(verified.source, f"{skill.folder}/" if skill.folder else "", added)
    return SkillTree(name, skill, source, make_record(source))


def _folder_name(pack: PackName, skill: Skill) -> PackName:
    """Return the skill's own name as a folder's; programs want the two to agree. Else the name of its folder in the pack."""
    for candidate in (skill.name, skill.folder.rpartition("/")[2]):
        try:
            return parse_pack_name(candidate.strip().replace(" ", "-"))
        except MarketError:
            continue
    raise InvalidInput(
        f"the skill {skill.name!r} of {pack} can't be installed as a folder",
        why="neither its name nor its folder's can be written with letters a-z, digits and hyphens",
        hint="install it into a root of Market (without --target)",
    )


class _Part:
    """The files of one folder of a tree, as a tree of its own, with some files added."""

    name = ""

    def __init__(self, whole: Source, prefix: str, added: dict[str, bytes]) -> None:
        self._whole, self._prefix, self._added = whole, prefix, added

    def files(self) -> Sequence[SourceFile]:
        """Return the files in path order."""
        start = len(self._prefix)
        own = [
            SourceFile(file.path[start:], file.size, file.executable)
            for file in self._whole.files()
            if file.path.startswith(self._prefix) and file.path[start:] not in self._added
        ]
        own += [SourceFile(path, len(content)) for path, content in self._added.items()]
        return sorted(own, key=lambda file: file.path.encode())

    def read(self, path: str) -> bytes:
        """Return a file's bytes."""
        return self._added[path] if path in self._added else self._whole.read(self._prefix + path)

    def open(self, path: str) -> BinaryIO:
        """Open a file."""
        return io.BytesIO(self._added[path]) if path in self._added else self._whole.open(self._prefix + path)
