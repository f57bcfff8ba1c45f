"""May a plan go on, given what its packs need from this machine? Pure: what the machine lacks is `machine.py`'s answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.installer.preview import PlannedPack, SkillLack

MAX_SHOWN = 10


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
            raise _refusal(planned, fatal, "it could never work on this machine, so nothing was installed")
        if strict and planned.lacks:
            raise _refusal(planned, planned.lacks, "--strict-needs was given, so nothing was installed")


def _refusal(planned: PlannedPack, lacks: Iterable[SkillLack], why: str) -> Refused:
    unique = list(dict.fromkeys(one.lack for one in lacks))
    return Refused(
        f"{planned.name} {planned.version} needs {'; '.join(lack.text for lack in unique[:MAX_SHOWN])}",
        why=why,
        hint="; ".join(lack.advice for lack in unique[:MAX_SHOWN]),
        details={
            "name": planned.name,
            "version": planned.version,
            "missing": [{"kind": lack.kind, "name": lack.name} for lack in unique],
        },
    )
