"""May a plan go on, given what its packs need from this machine? Pure: what the machine lacks is `machine.py`'s answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from market.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.installer.machine import Lack, Machine
    from market.installer.preview import PlannedPack, SkillLack
    from market.model import Pack

MAX_SHOWN = 10
NEVER = "it could never work on this machine, so nothing was installed"


def check_needs(plan: Iterable[PlannedPack], *, strict: bool = False) -> None:
    """Raise `Refused` where a pack could never work here, or, when `strict`, where anything that one needs is missing.

    A pack can never work where each of its skills needs another system or another Python. What else is missing makes single
    skills ineligible until somebody provides it.
    """
    for planned in plan:
        if planned.facts is None:
            continue
        fatal = [one for one in planned.lacks if one.lack.is_fatal]
        hopeless = {one.skill for one in fatal}
        if hopeless and hopeless >= {name for name, _, _ in planned.facts.skills}:
            raise _refusal(planned, [_before(one) for one in fatal], NEVER)
        if strict and planned.lacks:
            raise _refusal(planned, planned.lacks, "--strict-needs was given, so nothing was installed")


def check_runs_here(pack: Pack, machine: Machine) -> None:
    """Raise `Refused` where a pack could never work here."""
    if lacks := find_never(pack, machine):
        raise _refuse(pack.name, str(pack.version), lacks, NEVER)


def find_never(pack: Pack, machine: Machine) -> tuple[Lack, ...]:
    """Return why a pack could never work here; empty where one of its skills could.

    A skill can't where it needs another system, another Python, or brings code that was built for another one.
    """
    lacks = [machine.never(pack.needs, skill.needs) for skill in pack.skills]
    return tuple(dict.fromkeys(lack for some in lacks for lack in some)) if all(lacks) else ()


def _before(one: SkillLack) -> SkillLack:
    """Advise who hasn't installed it: there is nothing to reinstall."""
    lack = one.lack
    return replace(one, lack=replace(lack, advice=lack.advice_before or lack.advice))


def _refusal(planned: PlannedPack, lacks: Iterable[SkillLack], why: str) -> Refused:
    return _refuse(planned.name, planned.version, (one.lack for one in lacks), why)


def _refuse(name: str, version: str, lacks: Iterable[Lack], why: str) -> Refused:
    unique = list(dict.fromkeys(lacks))
    return Refused(
        f"{name} {version} needs {'; '.join(lack.text for lack in unique[:MAX_SHOWN])}",
        why=why,
        hint="; ".join(dict.fromkeys(lack.advice for lack in unique[:MAX_SHOWN])),
        details={
            "name": name,
            "version": version,
            "missing": [{"kind": lack.kind, "name": lack.name} for lack in unique],
        },
    )
