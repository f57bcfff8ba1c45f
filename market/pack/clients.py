"""Which other programs take a guide, and the grade that follows: strict, portable or lenient. Verdicts are proved against the programs.

What Market itself says of a pack is `market.pack.inspect`. A skill without a SKILL.md is no skill to these programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from market.pack import client_rules as rules
from market.pack.discover import GUIDE_FILE
from market.pack.text import read_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from market.model import Pack
    from market.pack.source import Source


@dataclass(frozen=True, slots=True)
class Client:
    """One program: its id here, the version whose rules these are, whether it loads skills or only judges them."""

    id: str
    version: str
    loads: bool
    judge: Callable[[rules.GuideText], str]


CLIENTS = (
    Client("skills-ref-python", "0.1.1", False, rules.judge_by_skills_ref_python),
    Client("skills-ref-npm", "0.1.5", False, rules.judge_by_skills_ref_npm),
    Client("agentskills-tools", "0.7.0", False, rules.judge_by_agentskills_tools),
    Client("npx-skills", "1.7.4", True, rules.judge_by_npx_skills),
    Client("claude-code", "2.1.332", True, rules.judge_by_claude_code),
    Client("opencode", "1.18.33", True, rules.judge_by_opencode),
)
# The two that carry out the Agent Skills rules as they are written; agentskills-tools has types of its own for two fields.
REFERENCE = frozenset({"skills-ref-python", "skills-ref-npm"})


class Grade(StrEnum):
    """How far a guide travels: by the reference rules and everywhere, everywhere, somewhere, nowhere."""

    STRICT = "strict"
    PORTABLE = "portable"
    LENIENT = "lenient"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """What one program says. `reason` tells why it refuses, and is empty where it accepts."""

    client: str
    reason: str = ""

    @property
    def accepts(self) -> bool:
        """Whether the program takes the guide."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class GuideVerdict:
    """A guide's grade and the verdict of each client, in the order of the table."""

    file: str
    grade: Grade
    clients: tuple[ClientVerdict, ...]


def judge_guide(data: bytes, folder: str, file: str = GUIDE_FILE) -> GuideVerdict:
    """Judge the bytes of a SKILL.md that lies in a folder of this name."""
    guide = rules.GuideText(data, folder, file.rpartition("/")[2])
    verdicts = tuple(ClientVerdict(client.id, client.judge(guide)) for client in CLIENTS)
    return GuideVerdict(file, _grade(verdicts), verdicts)


def judge_guides(source: Source, pack: Pack) -> tuple[GuideVerdict, ...]:
    """Judge every guide of a pack. One at the top lies in the tree's folder, in an archive in one named as the pack."""
    files = {file.path: file for file in source.files()}
    manifests = [skill.guide.manifest for skill in pack.skills if skill.guide]
    return tuple(
        judge_guide(
            read_manifest(source, files[path]), path.split("/")[-2] if "/" in path else source.name or pack.name, path
        )
        for path in manifests
    )


def worst_grade(grades: Iterable[Grade]) -> Grade | None:
    """Return the grade of a pack: that of its guide which travels least; None without guides."""
    order = list(Grade)
    return max(grades, key=order.index, default=None)


def _grade(verdicts: Sequence[ClientVerdict]) -> Grade:
    accepted = {verdict.client for verdict in verdicts if verdict.accepts}
    loaders = {client.id for client in CLIENTS if client.loads}
    if accepted >= loaders:
        return Grade.STRICT if accepted >= REFERENCE else Grade.PORTABLE
    return Grade.LENIENT if accepted & loaders else Grade.NONE
