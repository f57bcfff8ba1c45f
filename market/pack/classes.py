"""The two vocabularies for what a skill may do, and the one mapping between them (mission B6)."""

from __future__ import annotations

from market.model import SkillClass

# Never destructive to safe: the mapping keeps the order of harm.
ALIASES = {"read": SkillClass.SAFE, "write": SkillClass.MUTATING, "destructive": SkillClass.DANGEROUS}

_ORDER = (SkillClass.SAFE, SkillClass.MUTATING, SkillClass.DANGEROUS)
_NAMES = {member.value: member for member in SkillClass}


def parse_class(text: str) -> tuple[SkillClass | None, bool]:
    """Return the class and whether it was written in the other vocabulary; None for a word of neither."""
    if text in ALIASES:
        return ALIASES[text], True
    return _NAMES.get(text), False


def strictest(first: SkillClass, second: SkillClass) -> SkillClass:
    """Return the class that may do more harm."""
    return max(first, second, key=_ORDER.index)
