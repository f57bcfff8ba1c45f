"""Plugins at a root: asked before each change, told afterwards, and nothing changes where one objects."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from market.errors import Problem, Refused, Severity
from market.hookspecs import hookimpl
from market.installer.dependencies import DependencyTerms
from market.installer.guard import Guard, own_installing
from market.installer.rollback import rollback_packs
from market.installer.root import Root, open_root
from market.installer.sync import change_packs
from market.installer.transaction import install_packs, lock_root, uninstall_packs
from market.model import Caller, Role
from market.plugins.loaded import load_plugins
from market.trust.decision import Decision, deny
from tests.installer.builders import NOW, an_arrival, check_at_rest
from tests.plugged import ADA, an_entry

if TYPE_CHECKING:
    from market.installer.plan import Change
    from market.model import Pack
    from market.pack.source import Source

REPOSITORY = Path(__file__).parents[2]


class Watcher:
    """Finds what it is told to, denies packs by name, and writes down what it hears."""

    def __init__(self, *findings: Problem, denied: str = "", crash: bool = False) -> None:
        self.findings = findings
        self.denied = denied
        self.crash = crash
        self.heard: list[tuple[object, ...]] = []

    @hookimpl
    def scan_pack(self, pack: Pack, source: Source, act: str) -> tuple[Problem, ...]:
        if self.crash:
            raise ValueError("no luck")
        assert source.read("run.sh")
        self.heard.append(("scan", pack.name, act))
        return self.findings

    @hookimpl
    def decide_install(self, pack: Pack, publisher: str, origin: str, root: str, caller: Caller) -> Decision | None:
        self.heard.append(("decide", pack.name, publisher, origin, root, caller.name))
        return deny(f"{pack.name} isn't on the list") if pack.name == self.denied else None

    @hookimpl
    def pack_installed(self, pack: Pack, root: str, action: str, old_version: str, caller: Caller, at: Any) -> None:
        self.heard.append(("installed", pack.name, str(pack.version), action, old_version, root, caller.name, at))

    @hookimpl
    def pack_removed(self, name: str, version: str, root: str, caller: Caller, at: Any) -> None:
        self.heard.append(("removed", name, version, root, caller.name, at))


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "root", create=True)


def a_guard(*watchers: Watcher, caller: Caller = ADA) -> Guard:
    entries = [an_entry(watcher, f"watcher-{number}") for number, watcher in enumerate(watchers)]
    return Guard(load_plugins(own_installing(), entry_points=entries), caller)


def install(root: Root, guard: Guard, *arrivals: Any) -> tuple[Change, ...]:
    with lock_root(root, guard=guard) as locked:
        return install_packs(locked, arrivals, NOW)


def finding(severity: Severity) -> Problem:
    return Problem("a-key", severity, "a key", "run.sh", 2, 1)


def test_plugins_hear_of_every_change_with_its_particulars(root: Root) -> None:
    watcher = Watcher()
    guard, where = a_guard(watcher), str(root.path)
    install(root, guard, an_arrival())
    asked = [("scan", "echo-args", "install"), ("decide", "echo-args", "acme", "/echo-args.zip", where, "ada")]
    assert watcher.heard == [*asked, ("installed", "echo-args", "1.0.0", "installed", "", where, "ada", NOW)]
    watcher.heard.clear()
    install(root, guard, an_arrival(version="1.1.0"))
    assert watcher.heard == [*asked, ("installed", "echo-args", "1.1.0", "upgraded", "1.0.0", where, "ada", NOW)]
    watcher.heard.clear()
    install(root, guard, an_arrival(version="1.1.0"))
    assert watcher.heard == []
    with lock_root(root, guard=guard) as locked:
        rollback_packs(locked, ["echo-args"], NOW, dependencies=DependencyTerms())
    assert watcher.heard[-1] == ("installed", "echo-args", "1.0.0", "rolled-back", "1.1.0", where, "ada", NOW)
    watcher.heard.clear()
    with lock_root(root, guard=guard) as locked:
        change_packs(locked, [an_arrival("other")], ["echo-args"], NOW)
    heard = [row[:2] for row in watcher.heard]
    assert heard[:2] == [("scan", "other"), ("decide", "other")]
    assert sorted(heard[2:]) == [("installed", "other"), ("removed", "echo-args")]
    watcher.heard.clear()
    with lock_root(root, guard=guard) as locked:
        uninstall_packs(locked, ["other"], NOW)
    assert watcher.heard == [("removed", "other", "1.0.0", where, "ada", NOW)]
    check_at_rest(root)


def test_where_one_pack_is_denied_none_is_installed(root: Root) -> None:
    watcher = Watcher(denied="second")
    with pytest.raises(Refused, match=r"second 1\.0\.0 may not be installed here") as caught:
        install(root, a_guard(watcher), an_arrival("first"), an_arrival("second"))
    assert caught.value.why == "watcher-0: second isn't on the list"
    assert not root.tree("first").exists()
    assert not [row for row in watcher.heard if row[0] == "installed"]
    check_at_rest(root)


def test_an_error_that_a_scan_found_stops_the_install_and_keeps_its_place(root: Root) -> None:
    findings = finding(Severity.WARNING), finding(Severity.ERROR)
    with pytest.raises(Refused, match="a scan found what stops it") as caught:
        install(root, a_guard(Watcher(*findings)), an_arrival())
    assert [(one.rule, one.place) for one in caught.value.problems] == [("watcher-0:a-key", "run.sh:2:1")] * 2
    assert not root.tree("echo-args").exists()


def test_a_scan_that_crashes_stops_the_install(root: Root) -> None:
    with pytest.raises(Refused) as caught:
        install(root, a_guard(Watcher(), Watcher(crash=True)), an_arrival())
    assert [one.rule for one in caught.value.problems] == ["watcher-1:crashed"]
    assert "nothing in the pack is known to be wrong" in caught.value.hint


def test_what_stops_nothing_is_in_the_answer(root: Root) -> None:
    (change,) = install(root, a_guard(Watcher(finding(Severity.WARNING), finding(Severity.REFUSAL))), an_arrival())
    assert [one.severity for one in change.findings] == [Severity.WARNING, Severity.REFUSAL]


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
def test_without_a_plugin_only_admins_install(root: Root, role: Role) -> None:
    with pytest.raises(Refused, match="may not be installed"):
        install(root, a_guard(caller=Caller(1, "bob", role)), an_arrival())
    assert install(root, a_guard(), an_arrival())


def test_every_program_that_changes_packs_locks_the_root_with_a_guard() -> None:
    changing = {"install_packs", "uninstall_packs", "rollback_packs", "change_packs"}
    seen = set()
    for path in [*(REPOSITORY / "market/cli").rglob("*.py"), *(REPOSITORY / "market/host").rglob("*.py")]:
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        named = [(node.func.id, node) for node in calls if isinstance(node.func, ast.Name)]
        if changed := changing & {name for name, _ in named}:
            seen |= changed
            locks = [node for name, node in named if name == "lock_root"]
            assert locks and all(any(one.arg == "guard" for one in node.keywords) for node in locks), path
    assert seen == changing


def test_nothing_but_the_guard_commits() -> None:
    importing = [
        path.name
        for path in (REPOSITORY / "market").rglob("*.py")
        if "market.installer.commit import" in path.read_text()
    ]
    assert importing == ["guard.py"]
