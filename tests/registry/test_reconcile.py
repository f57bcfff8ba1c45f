"""The registry's decisions: who holds a name, what a change touches, and that no order of arrival matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from market.model import State
from market.registry.reconcile import EventKind, reconcile
from market.registry.snapshot import Snapshot, plain_key
from market.registry.unit import Dropped, LoadedUnit, UnitId
from tests.registry.units import ROOTS, a_command, a_guide, a_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

EMPTY = Snapshot(ROOTS)


def loaded(*units: LoadedUnit, before: Snapshot = EMPTY) -> Snapshot:
    return reconcile(before, {unit.unit: unit for unit in units}).snapshot


def kinds(before: Snapshot, *units: LoadedUnit) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.path) for event in reconcile(before, {unit.unit: unit for unit in units}).events]


def test_a_unit_s_skills_are_found_by_name() -> None:
    snapshot = loaded(a_unit("tools", a_command("echo"), a_guide("greeting")))
    assert snapshot.keys == ("echo", "greeting")
    found = snapshot.find("echo")
    assert found is not None and found.pack == "tools" and found.state is State.LIVE
    assert snapshot.find("nothing") is None


def test_first_root_wins_whatever_arrived_first() -> None:
    late, early = a_unit("a", a_command("echo"), root="/second"), a_unit("z", a_command("echo"), root="/first")
    for snapshot in (loaded(late, early), loaded(early, before=loaded(late)), loaded(late, before=loaded(early))):
        winner, loser = snapshot.find("echo"), snapshot.find("a:echo")
        assert winner is not None and winner.root == "/first" and winner.state is State.LIVE
        assert loser is not None and loser.state is State.SHADOWED and loser.shadowed_by == "/first/z/skill.json"


def test_within_a_root_the_unit_s_name_decides() -> None:
    snapshot = loaded(a_unit("b", a_command("echo")), a_unit("a", a_command("echo")))
    winner = snapshot.find("echo")
    assert winner is not None and winner.pack == "a"


def test_the_winner_is_also_found_by_its_qualified_key() -> None:
    snapshot = loaded(a_unit("a", a_command("echo")), a_unit("b", a_command("echo")))
    assert snapshot.find("a:echo") is snapshot.find("echo")
    assert snapshot.find("c:echo") is None


def test_two_packs_of_one_name_keep_two_keys() -> None:
    units = [a_unit(name, a_command("echo"), pack="tools", root=root) for root in ROOTS for name in ("a", "b")]
    snapshot = loaded(*units)
    assert snapshot.keys == ("a:echo", "b:echo", "echo", "tools:echo")
    assert {skill.unit for skill in snapshot.all_skills()} == {unit.unit.path for unit in units}


def test_a16_a_removed_winner_hands_over() -> None:
    before = loaded(a_unit("a", a_command("echo")), a_unit("b", a_command("echo")))
    after = reconcile(before, {UnitId("/first", "a"): None})
    successor = after.snapshot.find("echo")
    assert (
        successor is not None and successor.pack == "b" and successor.state is State.LIVE and not successor.shadowed_by
    )
    assert [(event.kind, event.path) for event in after.events] == [
        (EventKind.REGISTERED, "/first/b/skill.json"),
        (EventKind.REMOVED, "/first/b/skill.json"),
    ]


def test_a16_a_duplicate_is_an_event_and_no_error() -> None:
    before = loaded(a_unit("a", a_command("echo")))
    assert kinds(before, a_unit("b", a_command("echo"))) == [(EventKind.DUPLICATE, "/first/b/skill.json")]


def test_hyphen_and_underscore_forms_are_one_name() -> None:
    before = loaded(a_unit("a", a_guide("deploy-it")), a_unit("b", a_command("deploy_it")))
    loser = before.find("b:deploy_it")
    assert before.keys == ("b:deploy_it", "deploy-it")
    assert loser is not None and loser.state is State.SHADOWED and loser.shadowed_by == "/first/a/SKILL.md"
    after = reconcile(before, {UnitId("/first", "a"): None}).snapshot
    assert after.keys == ("deploy_it",)


def test_a_copy_to_the_last_byte_is_an_event_of_its_own() -> None:
    before = loaded(a_unit("a", a_command("echo"), tree_digest="sha256:1"))
    assert kinds(before, a_unit("b", a_command("echo"), tree_digest="sha256:1")) == [(EventKind.COPY, "/first/b/skill.json")]
    assert kinds(before, a_unit("b", a_command("echo"), tree_digest="sha256:2")) == [(EventKind.DUPLICATE, "/first/b/skill.json")]


def test_a_held_skill_that_is_shadowed_stays_held() -> None:
    snapshot = loaded(a_unit("a", a_command("echo")), a_unit("b", a_command("echo"), state=State.HELD))
    loser = snapshot.find("b:echo")
    assert loser is not None and loser.state is State.HELD and not loser.is_runnable and loser.shadowed_by


def test_a8_a_missing_class_is_an_event_beside_the_registration() -> None:
    assert kinds(EMPTY, a_unit("a", a_command("echo"), classless=True)) == [
        (EventKind.REGISTERED, "/first/a/skill.json"),
        (EventKind.CLASS_MISSING, "/first/a/skill.json"),
    ]


def test_a15_a_dropped_manifest_is_told_once_and_its_siblings_stay() -> None:
    bad = Dropped("/first/a/bad/skill.json", "bad", "no entry")
    unit = a_unit("a", a_command("echo"), dropped=(bad,))
    assert kinds(EMPTY, unit) == [(EventKind.DROPPED, bad.path), (EventKind.REGISTERED, "/first/a/skill.json")]
    again = a_unit("a", a_command("echo"), dropped=(bad,), signature=b"2")
    assert kinds(loaded(unit), again) == []
    (row,) = loaded(unit).dropped()
    assert (row.path, row.cause, row.pack, row.version, row.root) == (bad.path, bad.cause, "a", "1.0.0", "/first")


def test_the_same_reading_changes_nothing() -> None:
    before = loaded(a_unit("a", a_command("echo")))
    after = reconcile(before, {UnitId("/first", "a"): a_unit("a", a_command("echo")), UnitId("/first", "never"): None})
    assert after.snapshot is before and after.events == ()


def test_a_snapshot_stays_as_it_was() -> None:
    before = loaded(a_unit("a", a_command("echo")))
    loaded(a_unit("a", a_command("other")), before=before)
    assert before.keys == ("echo",) and before.find("echo") is not None


def test_a_name_with_dividers_can_t_take_a_qualified_key() -> None:
    snapshot = loaded(
        a_unit("a", a_command("echo")), a_unit("b", a_command("echo")), a_unit("c", a_guide("b:echo"), a_guide("x/y"))
    )
    loser = snapshot.find("b:echo")
    assert loser is not None and loser.pack == "b"
    assert plain_key("b:echo") in snapshot.keys and "x-y" in snapshot.keys


NAMES = st.sampled_from(["a", "b", "c", "a-b", "a_b"])
UNITS = st.builds(
    lambda unit, skills, root, pack, version: a_unit(
        unit, *(a_command(name, folder=name) for name in skills), root=root, pack=pack, version=version
    ),
    NAMES,
    st.lists(NAMES, max_size=3, unique=True),
    st.sampled_from(ROOTS),
    NAMES,
    st.sampled_from(["1", "2"]),
)
STEPS = st.lists(st.one_of(UNITS, st.builds(UnitId, st.sampled_from(ROOTS), NAMES)), max_size=12)


def standing(steps: Iterable[LoadedUnit | UnitId]) -> list[LoadedUnit]:
    units: dict[UnitId, LoadedUnit] = {}
    for step in steps:
        if isinstance(step, LoadedUnit):
            units[step.unit] = step
        else:
            units.pop(step, None)
    return list(units.values())


@given(STEPS)
def test_any_history_ends_where_loading_at_once_ends(steps: list[LoadedUnit | UnitId]) -> None:
    snapshot = EMPTY
    for step in steps:
        reading = {step.unit: step} if isinstance(step, LoadedUnit) else {step: None}
        snapshot = reconcile(snapshot, reading).snapshot
    at_once = loaded(*standing(steps))
    assert dict(snapshot.skills) == dict(at_once.skills)
    assert snapshot.keys == at_once.keys == tuple(sorted(snapshot.skills))
    assert dict(snapshot.claims) == dict(at_once.claims)
    assert dict(snapshot.packs) == {
        pack: tuple(key for key in snapshot.keys if snapshot.skills[key].pack == pack)
        for pack in {skill.pack for skill in snapshot.skills.values()}
    }


@given(STEPS)
def test_every_skill_of_every_unit_has_exactly_one_key(steps: list[LoadedUnit | UnitId]) -> None:
    units = standing(steps)
    snapshot = loaded(*units)
    assert len(snapshot.skills) == sum(len(unit.skills) for unit in units)
    assert all(skill.key == key for key, skill in snapshot.skills.items())
