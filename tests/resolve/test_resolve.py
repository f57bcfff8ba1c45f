from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from market.errors import Conflict, MarketError, NotFound, Refused, Unauthenticated
from market.model import SkillClass
from market.names import parse_requirement, parse_version
from market.resolve.candidates import Prefer, Standing
from market.resolve.policy import Policy
from tests.resolve.graphs import Graph, a_candidate, picks, solve

TOOLS = Graph(
    {
        "app": {"1.0": ["kit>=1"], "2.0": ["kit>=2"]},
        "kit": {"1.0": [], "2.0": ["base"], "2.1": ["base"]},
        "base": {"0.1": []},
    }
)


def test_all_that_is_required_comes_too() -> None:
    assert solve(TOOLS, "app") == {"app": "2.0 index", "kit": "2.1 index", "base": "0.1 index"}
    assert solve(TOOLS, "app@1.0") == {"app": "1.0 index", "kit": "2.1 index", "base": "0.1 index"}


def test_each_pick_says_who_wants_it() -> None:
    found = {pick.name: pick for pick in picks(TOOLS, "app", "kit")}
    assert found["kit"].required_by == ("app",) and found["kit"].is_asked_for
    assert found["base"].required_by == ("kit",) and not found["base"].is_asked_for


def test_what_is_installed_is_kept_where_it_is_good_and_no_index_is_asked_for_it() -> None:
    graph = Graph(TOOLS.packs)
    assert solve(graph, "app", installed=[a_candidate("kit 2.0", "base"), a_candidate("base 0.1")]) == {
        "app": "2.0 index",
        "kit": "2.0 installed",
        "base": "0.1 installed",
    }
    assert graph.asked == ["app"]


def test_what_is_installed_is_replaced_where_it_is_not_good() -> None:
    assert solve(TOOLS, "app", installed=[a_candidate("kit 1.0")])["kit"] == "2.1 index"


def test_what_was_asked_for_is_the_newest_and_never_goes_back() -> None:
    assert solve(TOOLS, "kit", installed=[a_candidate("kit 2.0")])["kit"] == "2.1 index"
    assert solve(TOOLS, "kit", installed=[a_candidate("kit 2.1")])["kit"] == "2.1 index"
    assert solve(TOOLS, "kit", installed=[a_candidate("kit 2.1")], prefer=Prefer.UPGRADE)["kit"] == "2.1 installed"
    assert solve(TOOLS, "kit", installed=[a_candidate("kit 3.0")])["kit"] == "3.0 installed"
    assert solve(TOOLS, "kit@1.0", installed=[a_candidate("kit 3.0")])["kit"] == "1.0 index"


def test_without_dependencies() -> None:
    assert solve(TOOLS, "app", follow=False) == {"app": "2.0 index"}


def test_an_older_release_is_taken_where_the_newest_can_t_be() -> None:
    graph = Graph({"a": {"1.0": ["c<2"], "2.0": ["c<2", "d"]}, "b": {"1.0": ["c"]}, "c": {"1.0": [], "2.0": []}})
    assert solve(graph, "a", "b") == {"a": "1.0 index", "b": "1.0 index", "c": "1.0 index"}


def test_circles_and_packs_that_require_themselves() -> None:
    graph = Graph({"a": {"1.0": ["b", "a"]}, "b": {"1.0": ["a>=1"]}})
    assert solve(graph, "a") == {"a": "1.0 index", "b": "1.0 index"}


def test_what_was_given_is_the_only_one_of_its_name() -> None:
    graph = Graph(TOOLS.packs)
    given = [a_candidate("kit 2.5", standing=Standing.GIVEN, publisher="")]
    assert solve(graph, "app", "kit", given=given) == {"app": "2.0 index", "kit": "2.5 given"}
    assert "kit" not in graph.asked
    with pytest.raises(Conflict, match=r"disagree on|wants releases|requires of kit") as caught:
        solve(graph, "app@2.0", "kit", given=[a_candidate("kit 1.0", standing=Standing.GIVEN)])
    assert "kit 1.0 is given" in caught.value.why


@pytest.mark.parametrize(
    ("requires", "version"),
    [
        (["kit"], "1.0"),
        (["kit>=2.0rc1"], "2.0rc1"),
        (["kit@2.0rc1"], "2.0rc1"),
        (["kit@beta"], "2.0rc1"),
        (["kit@0.9"], "0.9"),
        (["kit>=0.5", "kit@0.9"], "0.9"),
        (["@acme/kit"], "1.0"),
    ],
)
def test_pre_releases_when_asked_yanked_ones_when_pinned(requires: list[str], version: str) -> None:
    rows: dict[str, list[str]] = {
        "0.9 yanked": [],
        "1.0": [],
        "2.0rc1": [],
        "1.5 held": [],
        "1.6 quarantined": [],
        "1.7 deleted": [],
    }
    graph = Graph({"app": {"1.0": requires}, "kit": rows}, tags={"kit": {"beta": "2.0rc1"}})
    assert solve(graph, "app")["kit"] == f"{version} index"


@pytest.mark.parametrize(
    "requires", ["kit@1.5", "kit@1.6", "kit@1.7", "kit<1", "kit>=1.5", "@mallory/kit", "kit@nosuch"]
)
def test_what_may_never_be_chosen(requires: str) -> None:
    rows: dict[str, list[str]] = {
        "0.9 yanked": [],
        "1.0": [],
        "2.0rc1": [],
        "1.5 held": [],
        "1.6 quarantined": [],
        "1.7 deleted": [],
    }
    with pytest.raises(MarketError, match=r"app 1\.0 requires of kit") as caught:
        solve(Graph({"app": {"1.0": [requires]}, "kit": rows}), "app")
    assert f"app 1.0 requires {requires}" in caught.value.why and "there is 2.0rc1, 1.0" in caught.value.why
    assert caught.value.hint


def test_a_conflict_says_who_wants_what_what_was_tried_and_what_to_change() -> None:
    graph = Graph(
        {
            "a": {"1.0": ["c<2"], "1.1": ["c<2"]},
            "b": {"1.0": ["c>=2"]},
            "c": {"1.0": [], "1.5": [], "2.0": []},
        }
    )
    with pytest.raises(Conflict) as caught:
        solve(graph, "a", "b")
    error = caught.value
    assert "can't be installed together: they disagree on c" in error.message
    assert "b 1.0 requires c>=2" in error.why and "requires c<2" in error.why
    assert "of c there is 2.0, 1.5, 1.0" in error.why and "tried and given up: " in error.why
    assert "ask for other releases of a or b" in error.hint
    assert {row["requires"] for row in error.details["wants"]} == {"c<2", "c>=2"}  # type: ignore[attr-defined]


def test_a_required_pack_that_no_index_knows_is_named_with_who_wants_it() -> None:
    with pytest.raises(NotFound, match="the pack gone, which is required") as caught:
        solve(Graph({"a": {"1.0": ["gone>=1"]}}), "a")
    assert "a 1.0 requires gone>=1" in caught.value.why and "--no-deps" in caught.value.hint


def test_an_index_that_refuses_ends_the_search() -> None:
    def find(name: str) -> object:
        raise Unauthenticated("who are you")

    graph = Graph({})
    graph.find = find  # type: ignore[assignment, method-assign]
    with pytest.raises(Unauthenticated):
        solve(graph, "a")


def test_an_asked_for_pack_that_the_index_lost_is_not_kept_in_silence() -> None:
    with pytest.raises(NotFound):
        solve(Graph({}), "a", installed=[a_candidate("a 1.0")])
    assert solve(Graph({}), "a", installed=[a_candidate("a 1.0")], prefer=Prefer.UPGRADE) == {"a": "1.0 installed"}


def test_an_installed_pack_is_not_broken_by_its_neighbour() -> None:
    graph = Graph({"kit": {"1.0": [], "1.5": [], "2.0": []}})
    there = [a_candidate("app 1.0", "kit<2", "never-installed"), a_candidate("kit 1.0")]
    assert solve(graph, "kit", installed=there) == {"kit": "1.5 index"}
    with pytest.raises(Conflict) as caught:
        solve(graph, "kit>=2", installed=there)
    assert "app 1.0, which is installed, requires kit<2" in caught.value.why
    assert "upgrade or uninstall app too" in caught.value.hint


def test_an_installed_pack_that_goes_along_is_no_obstacle() -> None:
    graph = Graph({"kit": {"1.0": [], "2.0": []}, "app": {"1.0": ["kit<2"], "2.0": ["kit>=2"]}})
    there = [a_candidate("app 1.0", "kit<2"), a_candidate("kit 1.0")]
    assert solve(graph, "app", installed=there) == {"app": "2.0 index", "kit": "2.0 index"}
    assert solve(graph, "app", "kit", installed=there, prefer=Prefer.UPGRADE) == {
        "app": "2.0 index",
        "kit": "2.0 index",
    }


NOW = datetime(2026, 1, 10, tzinfo=UTC)
AGED = Graph(
    {"app": {"1.0": ["kit"]}, "kit": {"1.0": [], "1.1": [], "1.2": []}},
    published={"kit 1.1": "2026-01-09T22:00:00Z", "kit 1.2": "soon"},
)


def test_young_releases_wait_and_the_pick_says_so() -> None:
    policy = Policy(NOW, {SkillClass.SAFE: timedelta(hours=24)}, lambda document, release: SkillClass.SAFE)
    found = {pick.name: pick for pick in picks(AGED, "app", policy=policy)}
    assert found["kit"].candidate.version.text == "1.0"
    assert [(one.version.text, one.is_policy) for one in found["kit"].passed_over] == [("1.2", True), ("1.1", True)]
    assert "published 2 h ago, and minimum-release-age for safe skills is 24 h" in found["kit"].passed_over[1].why
    with pytest.raises(Refused, match=r"kit 1\.1 may not be installed") as caught:
        solve(AGED, "kit@1.1", policy=policy)
    assert "--minimum-release-age 0" in caught.value.hint


def test_the_age_is_by_class_and_the_class_is_asked_only_where_it_counts() -> None:
    asked: list[str] = []

    def find_class(document: object, release: object) -> SkillClass:
        asked.append(release.version)  # type: ignore[attr-defined]
        return SkillClass.SAFE

    ages = {SkillClass.SAFE: timedelta(hours=1), SkillClass.DANGEROUS: timedelta(days=3)}
    assert solve(AGED, "kit", policy=Policy(NOW, ages, find_class))["kit"] == "1.1 index"
    assert sorted(asked) == ["1.1", "1.2"]


def test_an_older_release_is_taken_where_the_newest_needs_another_machine() -> None:
    graph = Graph({"kit": {"1.0": [], "2.0": []}}, needs={"kit 2.0": {"os": ["darwin"]}})
    policy = Policy(find_unmet=lambda needs: ("the system darwin",) if needs else ())
    found = picks(graph, "kit", policy=policy)[0]
    assert found.candidate.version.text == "1.0" and found.passed_over[0].why == "it needs the system darwin"
    with pytest.raises(Refused, match=r"kit 2\.0 may not be installed here") as caught:
        solve(graph, "kit@2.0", policy=policy)
    assert caught.value.why == "it needs the system darwin"


def test_a_requirement_of_a_newer_syntax_passes_its_release_over() -> None:
    assert solve(Graph({"a": {"1.0": [], "2.0": ["b ; from the future"]}}), "a") == {"a": "1.0 index"}


def test_three_hundred_packs_are_each_asked_for_once() -> None:
    packs = {
        f"p{number}": {
            f"{version}.0": [f"p{next_one}>=1" for next_one in range(number + 1, min(number + 5, 300))]
            for version in range(1, 6)
        }
        for number in range(300)
    }
    graph = Graph(packs)
    assert len(solve(graph, "p0")) == 300
    assert sorted(graph.asked) == sorted(packs)


def test_what_was_given_up_and_wants_each_other_is_no_part_of_the_solution() -> None:
    packs: dict[str, dict[str, list[str]]] = {
        "a": {"3.0": ["b<3"], "2.0": ["d"], "1.0": []},
        "b": {"3.0": []},
        "c": {"2.0": ["a@1.0", "d<3"], "3.0": []},
        "d": {"1.0": ["c<3"]},
    }
    (pick,) = picks(Graph(packs), "a")
    assert (pick.name, pick.candidate.version.text, pick.required_by) == ("a", "1.0", ())


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("abcde"),
        st.dictionaries(
            st.sampled_from(["1.0", "2.0", "3.0"]),
            st.lists(
                st.builds(
                    lambda name, rest: name + rest, st.sampled_from("abcde"), st.sampled_from(["", ">=2", "<3", "@1.0"])
                ),
                max_size=2,
            ),
            min_size=1,
        ),
        min_size=1,
    )
)
def test_a_solution_meets_everything_and_a_refusal_is_an_error_of_ours(packs: dict[str, dict[str, list[str]]]) -> None:
    name = min(packs)
    try:
        found = {pick.name: pick.candidate for pick in picks(Graph(packs), name)}
    except MarketError as error:
        assert error.hint or "doesn't know" in error.message
        return
    for one in found.values():
        for text in packs[one.name][one.version.text]:
            wanted = parse_requirement(text)
            if wanted.name == one.name:  # says nothing
                continue
            version = found[wanted.name].version
            assert wanted.version in (None, version) and (
                wanted.specifier is None or wanted.specifier.contains(version.text)
            )
    assert parse_version("1.0") <= found[name].version
