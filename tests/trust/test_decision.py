"""How decisions combine: the strictest wins, silence isn't a yes, and a plugin never allows more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from market.trust.decision import Decision, allow, combine, deny

DECISIONS = st.lists(st.none() | st.builds(Decision, st.booleans(), st.sampled_from(["a", "b", "c"])), max_size=5)


@given(DECISIONS, DECISIONS, st.none() | st.builds(Decision, st.booleans(), st.just("new")), st.integers(0, 5))
def test_adding_a_decision_never_allows_more(
    own: list[Decision | None], others: list[Decision | None], added: Decision | None, place: int
) -> None:
    more = [*others[:place], added, *others[place:]]
    assert combine(own, more).allowed <= combine(own, others).allowed


@given(DECISIONS, DECISIONS)
def test_one_denial_is_enough_and_its_reason_is_told(own: list[Decision | None], others: list[Decision | None]) -> None:
    denials = [one.reason for one in [*own, *others] if one is not None and not one.allowed]
    combined = combine(own, others)
    if denials:
        assert not combined.allowed
        assert all(reason in combined.reason for reason in denials)


@given(DECISIONS)
def test_where_our_rules_are_silent_nothing_is_allowed(others: list[Decision | None]) -> None:
    assert not combine([], others).allowed
    assert not combine([None], others).allowed


def test_our_rules_allow_where_nobody_objects() -> None:
    assert combine([allow("an admin may")], [None, allow("fine")]) == Decision(True, "an admin may")
    assert combine([allow("an admin may")], [deny("no"), deny("no"), deny("never")]) == Decision(False, "no; never")
