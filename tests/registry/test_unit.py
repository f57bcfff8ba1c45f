"""Which directory a skill was read from."""

from __future__ import annotations

import pytest

from market.registry.unit import UnitId, unit_of
from tests.registry.units import a_guide, a_live


@pytest.mark.parametrize("name", ["pack", ""])
def test_a_skill_belongs_to_the_unit_it_was_read_from(name: str) -> None:
    assert unit_of(a_live(a_guide(), UnitId("/first", name))) == UnitId("/first", name)
