"""In which state is a skill, given how its tree stands against its receipt and what this machine lacks? Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.model import SkillClass, State
from market.registry.findings import disabled, edited, held, lacking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from market.errors import Problem
    from market.installer.machine import Lack
    from market.model import Skill


@dataclass(frozen=True, slots=True)
class TreeStanding:
    """How a unit's tree stands. `altered` are recorded files that were changed or are gone, `added` are new ones.

    `trouble` says why the receipt can't be read, if there is one that can't.
    """

    is_managed: bool
    altered: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    trouble: str = ""


def judge(
    standing: TreeStanding, skill: Skill, missing: Sequence[Lack], *, holds: bool, is_disabled: bool = False
) -> tuple[State, tuple[Problem, ...]]:
    """Return a skill's state and the reasons, the weightiest first.

    A tree whose recorded files were changed isn't what was installed: skills that only read still load, with a warning, others
    are held (`holds`). What somebody switched off stays off, whatever else is said of it. A tree without a receipt was put there
    by somebody who may write to the root, and loads.
    """
    doubtful = (standing.trouble,) if standing.trouble else standing.altered
    reasons: list[Problem] = []
    state = State.LIVE if standing.is_managed else State.UNMANAGED
    if doubtful or standing.added:
        state = State.EDITED
        reasons.append(edited((*doubtful, *standing.added)))
    if missing:
        state = State.INELIGIBLE
        reasons.insert(0, lacking(missing))
    if doubtful and holds and skill.skill_class is not SkillClass.SAFE:
        state = State.HELD
        reasons = [held(doubtful), *reasons[:-1]]
    if is_disabled:
        state = State.DISABLED
        reasons.insert(0, disabled(skill.name))
    return state, tuple(reasons)
