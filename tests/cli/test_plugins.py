"""`market plugins`, and plugins in the commands that ask and tell them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from market.cli.market import Market
from market.errors import Problem, Severity
from market.hookspecs import hookimpl
from market.model import OutcomeKind
from market.trust.decision import Decision, deny
from tests.plugged import an_entry

if TYPE_CHECKING:
    from pathlib import Path

    from market.model import Call, Outcome, Pack
    from market.plugins.find import PluginEntry
    from tests.cli.shell import Shell


class Watcher:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.findings: list[Problem] = []
        self.denied: set[str] = set()

    @hookimpl
    def scan_pack(self, pack: Pack) -> list[Problem]:
        return self.findings

    @hookimpl
    def decide_install(self, pack: Pack) -> Decision | None:
        return deny("not on the list") if "install" in self.denied else None

    @hookimpl
    def decide_run(self, arguments: Any) -> Decision | None:
        return deny("not at night") if "run" in self.denied else None

    @hookimpl
    def pack_installed(self, pack: Pack, action: str) -> None:
        self.heard.append(f"{action} {pack.name} {pack.version}")

    @hookimpl
    def pack_removed(self, name: str, version: str) -> None:
        self.heard.append(f"removed {name} {version}")

    @hookimpl
    def skill_ran(self, call: Call, outcome: Outcome, arguments_text: str) -> None:
        self.heard.append(f"ran {call.key} {arguments_text} {outcome.kind}")


class Misspelt:
    @hookimpl
    def decide_rum(self) -> None: ...


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
def plugged(shell: Shell, watcher: Watcher) -> Shell:
    shell.plugins = (an_entry(watcher, "watcher", "acme-watcher"),)
    return shell


def test_plugins_hear_of_installs_runs_and_removals(plugged: Shell, watcher: Watcher) -> None:
    plugged.pack()
    plugged("install", "./my-pack")
    plugged("run", "my-pack", "--args", '{"a": 1}')
    plugged("run", "nothing", expect=3)
    plugged("uninstall", "my-pack")
    assert watcher.heard == [
        "installed my-pack 1.0.0",
        'ran my_pack {"a":1} ok',
        "ran nothing {} unknown",
        "removed my-pack 1.0.0",
    ]


def test_a_denied_install_says_who_denies(plugged: Shell, watcher: Watcher) -> None:
    watcher.denied = {"install"}
    plugged.pack()
    error = plugged("install", "./my-pack", "--json", expect=6).error
    assert (error["code"], error["why"]) == ("refused", "watcher: not on the list")
    assert plugged("list", "--json").json["items"] == []
    assert watcher.heard == []


def test_a_denied_run_is_an_outcome_and_is_told(plugged: Shell, watcher: Watcher) -> None:
    plugged.pack()
    plugged("install", "./my-pack")
    watcher.denied = {"run"}
    ran = plugged("run", "my-pack", expect=6)
    assert "watcher: not at night" in ran.err
    assert watcher.heard[-1] == f"ran my_pack {{}} {OutcomeKind.DENIED}"
    assert plugged("audit", "--json").json["items"][0]["outcome"] == "denied"


def test_findings_are_printed_with_their_place(plugged: Shell, watcher: Watcher) -> None:
    plugged.pack()
    watcher.findings = [Problem("a-key", Severity.WARNING, "a key", "run.sh", 2, 1)]
    assert "run.sh:2:1: warning: a key [watcher:a-key]" in plugged("install", "./my-pack").out
    plugged("uninstall", "my-pack")
    (item,) = plugged("install", "./my-pack", "--json").json["items"]
    assert [(one["rule"], one["file"], one["line"]) for one in item["findings"]] == [("watcher:a-key", "run.sh", 2)]
    plugged("uninstall", "my-pack")
    watcher.findings = [Problem("a-key", Severity.ERROR, "a key", "run.sh", 2, 1)]
    assert "run.sh:2:1: error: a key [watcher:a-key]" in plugged("install", "./my-pack", expect=6).err


def entries(watcher: Watcher) -> tuple[PluginEntry, ...]:
    return (
        an_entry(watcher, "watcher", "acme-watcher"),
        an_entry(Misspelt(), "misspelt"),
        an_entry(ImportError("gone"), "gone"),
    )


def test_the_list_shows_every_plugin_and_what_is_wrong(shell: Shell, watcher: Watcher) -> None:
    assert "no plugins are installed" in shell("plugins", "list").out
    shell.plugins = entries(watcher)
    rows = shell("plugins", "list", "--json").json["items"]
    assert [(row["name"], row["state"]) for row in rows] == [
        ("watcher", "active"),
        ("misspelt", "broken"),
        ("gone", "broken"),
    ]
    assert "decide_run" in rows[0]["hooks"] and rows[0]["distribution"] == "acme-watcher"
    assert "did you mean decide_run?" in shell("plugins", "list").out


def test_a_broken_plugin_stops_what_it_might_have_denied_until_it_is_switched_off(shell: Shell) -> None:
    shell.plugins = (an_entry(Misspelt(), "misspelt"),)
    shell.pack()
    for arguments in (["install", "./my-pack"], ["run", "./my-pack"]):
        error = shell(*arguments, "--json", expect=8).error
        assert (error["code"], error["details"]["plugin"]) == ("plugin", "misspelt")
        assert error["hint"].endswith("market plugins disable misspelt")
    shell("check", "./my-pack")
    assert "misspelt is disabled" in shell("plugins", "disable", "misspelt").out
    shell("install", "./my-pack")
    assert shell("plugins", "list", "--json").json["items"][0]["state"] == "disabled"
    shell("plugins", "enable", "misspelt")
    shell("run", "my-pack", expect=8)


def test_switching_twice_changes_nothing(shell: Shell, watcher: Watcher) -> None:
    shell.plugins = entries(watcher)
    assert shell("plugins", "disable", "watcher", "--json").json == {
        "name": "watcher",
        "state": "disabled",
        "changed": True,
    }
    assert not shell("plugins", "disable", "watcher", "--json").json["changed"]
    assert shell("plugins", "enable", "watcher", "--json").json == {
        "name": "watcher",
        "state": "active",
        "changed": True,
    }
    assert not shell("plugins", "enable", "watcher", "--json").json["changed"]


def test_what_is_not_there_can_not_be_switched_off(shell: Shell, watcher: Watcher) -> None:
    shell.plugins = entries(watcher)
    assert "did you mean watcher?" in shell("plugins", "disable", "wacher", "--json", expect=3).error["hint"]
    assert (
        shell("plugins", "disable", "market-gate", "--json", expect=3).error["why"].endswith("watcher, misspelt, gone")
    )
    shell("plugins", "enable", "wacher", expect=3)


def test_one_that_was_uninstalled_can_be_enabled_again(shell: Shell, watcher: Watcher) -> None:
    shell.plugins = entries(watcher)
    shell("plugins", "disable", "watcher")
    shell.plugins = ()
    shell("plugins", "enable", "watcher")
    shell.plugins = entries(watcher)
    assert shell("plugins", "list", "--json").json["items"][0]["state"] == "active"


@pytest.mark.parametrize("content", ["", "{", '{"disabled": "x"}', '{"disabled": [1]}', "[]", "\0"])
def test_a_file_that_can_not_be_read_switches_nothing_on(shell: Shell, content: str) -> None:
    shell.home.path.mkdir(parents=True)
    shell.home.plugins.write_text(content)
    shell.pack()
    assert str(shell.home.plugins) in shell("install", "./my-pack", "--json", expect=2).error["message"]


def test_only_commands_that_need_plugins_load_them(shell: Shell) -> None:
    shell.plugins = (an_entry(ImportError("gone"), "gone"),)
    shell.pack()
    for arguments in (
        ["--version"],
        ["--help"],
        ["check", "my-pack"],
        ["list"],
        ["archive", "my-pack"],
        ["publish", "my-pack"],
    ):
        shell(*arguments)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "."], ["plugins", "--help"]])
def test_what_asks_no_plugin_does_not_look_for_them(arguments: list[str], tmp_path: Path) -> None:
    code = f"import sys; from market.cli.main import run; run({arguments}); print('importlib.metadata' in sys.modules, file=sys.stderr)"
    environ = {"PYTHONPATH": ":".join(sys.path), "MARKET_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr.split()[-1] == "False"


def test_version_and_help_load_no_pluggy(tmp_path: Path) -> None:
    code = "import sys; from market.cli.main import run; run(['--version']); run(['--help']); print('pluggy' in sys.modules)"
    environ = {"PYTHONPATH": ":".join(sys.path), "MARKET_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "False"


def test_a_market_finds_the_installed_plugins_by_itself(shell: Shell) -> None:
    assert Market(shell.home, {}).plugin_entries is None
