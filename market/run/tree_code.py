"""A pack's tree as workers see it: which state of which directory it is, what it declares, and what its code turned out to lack. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from market.model import Kind, State
from market.pack.entry_python import split_python_entry
from market.registry.findings import code_fails

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from market.hookspecs import Target
    from market.registry.live import LiveSkill
    from market.registry.unit import LoadedUnit

TreeKey = tuple[int, int, str]
"""Device and inode of a pack's directory, and the digest of what is in it: an edited tree gets new workers."""

Faults = dict[str, str]
"""Why a skill's code can't be used, by the skill's name; empty where all is well."""


def tree_key(tree: Target | LoadedUnit) -> TreeKey:
    """Return which state of which directory a skill was found in, or a unit was read from."""
    return tree.device, tree.inode, tree.tree_digest


def label_of(skill: Target) -> str:
    """Return how the processes of a skill's pack are called in the process table."""
    return f"{skill.pack}=={skill.version}" if skill.version else skill.pack


def declared_functions(skills: Iterable[Target]) -> dict[str, tuple[str, str]]:
    """Return module and function of every python skill, by its name."""
    found = {
        one.skill.name: split_python_entry(one.skill.command.entry)
        for one in skills
        if one.skill.kind is Kind.PYTHON and one.skill.command
    }
    return {name: target for name, target in found.items() if target is not None}


def first_runnable(unit: LoadedUnit) -> LiveSkill | None:
    """Return a python skill of a unit that may be called, if it has one."""
    return next((one for one in unit.skills if one.skill.kind is Kind.PYTHON and one.is_runnable), None)


def blame(unit: LoadedUnit, faults: Mapping[str, str]) -> LoadedUnit:
    """Return the unit with those python skills invalid whose code can't be used."""
    return replace(unit, skills=tuple(_blame(one, faults) for one in unit.skills)) if faults else unit


def _blame(live: LiveSkill, faults: Mapping[str, str]) -> LiveSkill:
    why = faults.get(live.skill.name)
    if why is None or live.skill.kind is not Kind.PYTHON or not live.is_runnable:
        return live
    return replace(live, state=State.INVALID, problems=(code_fails(why), *live.problems))
