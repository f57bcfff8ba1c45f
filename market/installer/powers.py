"""What skills may do, and by how much an upgrade widens it: a higher class, more variables of the environment, new programs. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.model import SkillClass
from market.pack.entry import resolve_entry
from market.resolve.policy import ORDER, highest_class

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from market.client.wire import SkillSummary
    from market.model import Skill


@dataclass(frozen=True, slots=True)
class Power:
    """What one skill may do. `entry` is the program that it runs, from the pack's top; empty for a guide."""

    skill: str
    skill_class: SkillClass
    entry: str = ""
    env_allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Widening:
    """One thing that a skill may do and couldn't before. `kind` is `class`, `env` or `entry`."""

    skill: str
    kind: str
    text: str


def powers_of(skills: Iterable[Skill]) -> tuple[Power, ...]:
    """Return what the skills of a pack may do."""
    return tuple(
        Power(
            skill.name,
            skill.skill_class,
            (resolve_entry(skill.folder, skill.command.entry) or skill.command.entry) if skill.command else "",
            skill.command.env_allow if skill.command else (),
        )
        for skill in skills
    )


def powers_of_summaries(skills: Iterable[SkillSummary]) -> tuple[Power, ...]:
    """Return what the skills may do, as an index's document says."""
    return tuple(
        Power(skill.name, highest_class([skill.skill_class]), skill.entry, tuple(skill.env_allow)) for skill in skills
    )


def find_widening(old: Iterable[Power], new: Iterable[Power]) -> tuple[Widening, ...]:
    """Return what new powers exceed old ones by, skill by skill. A skill that is new altogether brings its entry and class."""
    before = {power.skill: power for power in old}
    return tuple(
        widening
        for power in new
        for widening in _widenings(before.get(power.skill, Power(power.skill, SkillClass.SAFE)), power)
    )


def _widenings(old: Power, new: Power) -> Iterator[Widening]:
    if ORDER.index(new.skill_class) > ORDER.index(old.skill_class):
        yield Widening(new.skill, "class", f"{new.skill} rises from {old.skill_class} to {new.skill_class}")
    added = [name for name in new.env_allow if name not in old.env_allow]
    if added:
        yield Widening(new.skill, "env", f"{new.skill} may now read {', '.join(added)} from the environment")
    if new.entry and new.entry != old.entry:
        instead = f" (before: {old.entry})" if old.entry else ""
        yield Widening(new.skill, "entry", f"{new.skill} now runs {new.entry}{instead}")
