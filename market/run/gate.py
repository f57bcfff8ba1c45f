"""May this caller make this call now? Pure: class x role x road, as Market's own `decide_run`. Approvals and policy steps are not here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.hookspecs import hookimpl
from market.model import Role, SkillClass
from market.trust.decision import Decision, allow, deny

if TYPE_CHECKING:
    from market.hookspecs import Target
    from market.model import Call

# What isn't in this table is refused: a new class or role gets nothing until somebody writes it here.
_ALLOWED = {
    SkillClass.SAFE: frozenset({Role.ADMIN, Role.USER, Role.VIEWER, Role.SYSTEM}),
    SkillClass.MUTATING: frozenset({Role.ADMIN, Role.USER}),
}

_WHY = {
    SkillClass.MUTATING: "it changes things, and needs the role user or admin",
    SkillClass.DANGEROUS: "what it does can't be undone, and needs a signed procedure and two approvers",
}


class Gate:
    """The gate as a plugin: its answer is combined with those of the others, and without it nothing is allowed."""

    @hookimpl
    def decide_run(self, target: Target, call: Call) -> Decision:
        """Decide one call by the class of its skill."""
        decision = decide(target.skill.skill_class, call.caller.role, call.road)
        return decision if decision.allowed else deny(f"{target.key} is {target.skill.skill_class}: {decision.reason}")


def decide(skill_class: SkillClass, role: Role, road: str = "") -> Decision:
    """Decide one call.

    A call over the road `model` counts as the system's, whoever's token carries it: nobody has seen it (mission B5).

    >>> decide(SkillClass.MUTATING, Role.VIEWER).allowed
    False
    """
    acting = Role.SYSTEM if road == "model" else role
    if acting in _ALLOWED.get(skill_class, frozenset()):
        return allow(f"{acting} may run {skill_class} skills")
    if acting is Role.SYSTEM and skill_class is SkillClass.MUTATING:
        return deny("it changes things, and a model acting by itself runs safe skills only")
    return deny(_WHY.get(skill_class, f"nothing allows {acting} to run skills of class {skill_class}"))
