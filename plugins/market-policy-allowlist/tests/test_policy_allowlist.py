"""The list allows what is on it, and nothing where it is silent or can't be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market.model import Call, Caller, Kind, Pack, Role, Skill, SkillClass, State
from market.names import PackName, parse_version
from market.plugins.find import PluginEntry, check_plugin, make_manager
from market.plugins.loaded import load_plugins
from market.registry.live import LiveSkill
from market.run.gate import Gate
from market_policy_allowlist import plugin
from market_policy_allowlist.policy import AllowList, Asked
from market_policy_allowlist.settings import policy_path

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.sampled_from(["acme-disk", "acme-net", "other"])


@dataclass
class List:
    path: Path

    def write(self, text: str) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(text)


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> List:
    monkeypatch.setenv("MARKET_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MARKET_POLICY_ALLOWLIST", raising=False)
    return List(tmp_path / "home" / "policy-allowlist.toml")


def a_skill(skill_class: SkillClass) -> Skill:
    return Skill("one", Kind.COMMAND, "Does. Use it.", skill_class=skill_class)


def may_install(name: str = "acme-disk", publisher: str = "acme", *classes: SkillClass) -> str:
    """Why not, or an empty text."""
    skills = tuple(a_skill(one) for one in classes or (SkillClass.SAFE,))
    decision = plugin.decide_install(Pack(PackName(name), parse_version("1.0"), "skill", skills=skills), publisher)
    return "" if decision.allowed else decision.reason


def may_run(pack: str = "acme-disk", publisher: str = "acme", skill_class: SkillClass = SkillClass.SAFE) -> str:
    decision = plugin.decide_run(
        LiveSkill("one", a_skill(skill_class), pack, "1.0", State.LIVE, "/r", f"/r/{pack}", 1, 2, publisher=publisher)
    )
    return "" if decision.allowed else decision.reason


def test_its_hooks_are_hooks_of_market() -> None:
    assert [one.hook for one in check_plugin(make_manager(), "x", plugin)] == ["decide_install", "decide_run"]


def test_what_is_on_the_list_is_allowed(written: List) -> None:
    written.write('[install]\npacks = ["acme-*"]\npublishers = ["acme", "-"]\nclasses = ["safe", "mutating"]\n[run]\n')
    assert not may_install()
    assert not may_install("acme-net", "")
    assert "the pack other is not on the list" in may_install("other")
    assert "the publisher rival is not on the list" in may_install("acme-disk", "rival")
    assert "skills of class dangerous are not" in may_install(
        "acme-disk", "acme", SkillClass.SAFE, SkillClass.DANGEROUS
    )
    assert str(written.path) in may_install("other")
    assert not may_run("anything", "", SkillClass.DANGEROUS)


def test_runs_are_judged_by_their_own_table(written: List) -> None:
    written.write('[run]\nclasses = ["safe"]\npublishers = ["acme"]\n')
    assert not may_run()
    assert "class mutating" in may_run(skill_class=SkillClass.MUTATING)
    assert "nobody vouches" in may_run(publisher="")
    assert "has no table [install]" in may_install()


def test_an_empty_list_is_a_condition_that_nothing_meets(written: List) -> None:
    written.write("[install]\npacks = []\n")
    assert "not on the list" in may_install()


def test_a_change_holds_at_once(written: List) -> None:
    written.write("[run]\npacks = []\n")
    assert may_run()
    written.write("[run]\n")
    assert not may_run()


def test_another_file_can_be_named() -> None:
    assert (
        str(policy_path({"MARKET_POLICY_ALLOWLIST": "/etc/market/list.toml", "MARKET_HOME": "/h"}))
        == "/etc/market/list.toml"
    )


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "x",
        "\0",
        "[instal]",
        "install = 1",
        "[install]\npack = []",
        "[install]\npacks = 'x'",
        "[install]\nclasses = ['saef']",
    ],
)
def test_without_a_list_that_can_be_read_nothing_is_allowed(written: List, text: str | None) -> None:
    # As Market calls it: a crash of the plugin is a denial.
    if text is not None:
        written.write(text)

    gate = Gate()
    entry = PluginEntry("allowlist", "market-policy-allowlist", "0.1.0", lambda: plugin)
    plugins = load_plugins({"gate": gate}, entry_points=[entry])
    call = Call("one", {}, Caller(1, "ada", Role.ADMIN), "cli")
    target = LiveSkill("one", a_skill(SkillClass.SAFE), "acme-disk", "1.0", State.LIVE, "/r", "/r/acme-disk", 1, 2)
    decision = plugins.decide_run(target, call, {})
    assert not decision.allowed
    assert "allowlist" in decision.reason and str(written.path) in decision.reason
    assert load_plugins({"gate": gate}, entry_points=[]).decide_run(target, call, {}).allowed


@given(st.lists(NAMES), st.lists(NAMES), NAMES, NAMES)
def test_one_condition_more_never_allows_more(
    packs: list[str], publishers: list[str], pack: str, publisher: str
) -> None:
    asked = Asked(pack, publisher, frozenset({"safe"}))
    wide, narrow = AllowList(tuple(packs)), AllowList(tuple(packs), tuple(publishers))
    assert wide.find_objection(asked) == "" or narrow.find_objection(asked) != ""
