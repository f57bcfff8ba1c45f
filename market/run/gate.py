"""May this caller make this call now? Pure: class x role x road. Approvals and policy steps are not here."""

from __future__ import annotations

from dataclasses import dataclass

from market.model import Role, SkillClass

# What isn't in this table is refused: a new class or role gets nothing until somebody writes it here.
_ALLOWED = {
    SkillClass.SAFE: frozenset({Role.ADMIN, Role.USER, Role.VIEWER, Role.SYSTEM}),
    SkillClass.MUTATING: frozenset({Role.ADMIN, Role.USER}),
}

_WHY = {
    SkillClass.MUTATING: "it changes things, and needs the role user or admin",
    SkillClass.DANGEROUS: "what it does can't be undone, and needs a signed procedure and two approvers",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the call is allowed, and the reason in words that the caller can act on."""

    allowed: bool
    reason: str


def decide(skill_class: SkillClass, role: Role, road: str = "") -> Decision:
    """Decide one call.

    A call over the road `model` counts as the system's, whoever's token carries it: nobody has seen it (mission B5).

    >>> decide(SkillClass.MUTATING, Role.VIEWER).allowed
    False
    """
    acting = Role.SYSTEM if road == "model" else role
    if acting in _ALLOWED.get(skill_class, frozenset()):
        return Decision(True, f"{acting} may run {skill_class} skills")
    if acting is Role.SYSTEM and skill_class is SkillClass.MUTATING:
        return Decision(False, "it changes things, and a model acting by itself runs safe skills only")
    return Decision(False, _WHY.get(skill_class, f"nothing allows {acting} to run skills of class {skill_class}"))
