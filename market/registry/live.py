"""One skill as it stands in the registry: what it is, where its tree is, and in which state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.model import State

if TYPE_CHECKING:
    from market.errors import Problem
    from market.model import Skill

RUNNABLE_STATES = frozenset({State.LIVE, State.UNMANAGED, State.EDITED, State.SHADOWED})

# Where a skill came from (mission E4): an installed pack, a folder that somebody put into the root, or a plugin pack that was
# installed into this process's own environment.
SOURCE_PACK = "pack"
SOURCE_WORKSPACE = "workspace"
SOURCE_PLUGIN = "plugin"


@dataclass(frozen=True, slots=True)
class LiveSkill:
    """A skill with its place. `unit` is the absolute directory of its pack's tree, `root` the allow-listed one above it.

    `device` and `inode` identify the tree's directory, so that a call runs in the version that was found and no other.
    """

    key: str
    skill: Skill
    pack: str
    version: str
    state: State
    root: str
    unit: str
    device: int
    inode: int
    tree_digest: str = ""
    publisher: str = ""
    shadowed_by: str = ""
    source: str = SOURCE_PACK
    problems: tuple[Problem, ...] = ()

    @property
    def is_runnable(self) -> bool:
        """Whether calls may reach it at all; the gate decides each call."""
        return self.state in RUNNABLE_STATES
