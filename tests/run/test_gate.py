"""Every class against every role."""

from __future__ import annotations

import pytest

from market.model import Role, SkillClass
from market.run.gate import decide

ALLOWED = {
    SkillClass.SAFE: {Role.ADMIN, Role.USER, Role.VIEWER, Role.SYSTEM},
    SkillClass.MUTATING: {Role.ADMIN, Role.USER},
    SkillClass.DANGEROUS: set[Role](),
}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("skill_class", list(SkillClass))
def test_the_table(skill_class: SkillClass, role: Role) -> None:
    decision = decide(skill_class, role)
    assert decision.allowed is (role in ALLOWED[skill_class])
    assert decision.reason


def test_a_model_is_read_only_whoever_lends_it_a_token() -> None:
    assert decide(SkillClass.SAFE, Role.ADMIN, "model").allowed
    assert not decide(SkillClass.MUTATING, Role.ADMIN, "model").allowed
    assert decide(SkillClass.MUTATING, Role.ADMIN, "http").allowed


def test_an_unknown_class_or_role_gets_nothing() -> None:
    assert not decide("harmless", Role.ADMIN).allowed  # type: ignore[arg-type]
    assert not decide(SkillClass.SAFE, "root").allowed  # type: ignore[arg-type]
