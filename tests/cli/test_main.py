from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from market.cli import main, report
from market.cli.bug import Bug
from market.cli.catalogue import ALIASES, ENTRIES
from market.cli.main import market_group, run
from market.errors import MarketError, Unauthenticated

if TYPE_CHECKING:
    from tests.cli.shell import Shell

MARKET = str(Path(sys.executable).with_name("market"))
HEAVY = (
    "requests",
    "jsonschema",
    "sqlalchemy",
    "rich",
    "starlette",
    "tomlkit",
    "yaml",
    "sqlite3",
    "market.pack",
    "market.client",
    "market.disk",
)
SERVERS = ("index", "host")


def imported_by(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "from market.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ()])
def test_help_and_version_load_no_room(arguments: tuple[str, ...]) -> None:
    names = imported_by(*arguments)
    assert "click" in names
    assert [name for name in HEAVY if name in names] == []
    if arguments != ("--version",):
        assert not names & {"tempfile", "traceback", "difflib"}


@pytest.mark.parametrize(
    "command",
    [
        "list",
        "verify",
        "pin",
        "why",
        "enable",
        "disable",
        "run",
        "new",
        "check",
        "archive",
        "audit",
        "uninstall",
        "logout",
        "completion",
    ],
)
def test_commands_without_the_network_load_no_http_library(command: str) -> None:
    names = imported_by(command, "--help")
    loaded = [name for name in ("requests", "sqlalchemy", "rich", "starlette") if name in names]
    assert loaded == ([] if command != "uninstall" else loaded)


def test_no_arguments_show_the_help(shell: Shell) -> None:
    assert shell().out == shell("--help").out
    assert "market index serve" in shell().out


def test_the_version(shell: Shell) -> None:
    assert shell("--version").out.startswith("market 0.")


def test_every_command_has_a_line_of_help_examples_and_the_common_options() -> None:
    context = click.Context(market_group)
    for name in ENTRIES:
        made = market_group.get_command(context, name)
        assert made is not None, name
        text = made.get_help(click.Context(made, info_name=name))
        if name not in SERVERS:
            assert "Examples:" in text and f"market {name}" in text, name
            assert "--json" in text and "--quiet" in text, name


def test_every_alias_leads_to_its_command() -> None:
    context = click.Context(market_group)
    for alias, name in ALIASES.items():
        assert market_group.get_command(context, alias) is market_group.get_command(context, name)


def test_the_catalogue_names_every_command_file() -> None:
    folder = Path(main.__file__).with_name("commands")
    assert {entry.module for entry in ENTRIES.values()} == {path.stem for path in folder.glob("*.py")} - {"__init__"}


@pytest.mark.parametrize(
    "path", sorted(Path(main.__file__).with_name("commands").glob("*.py")), ids=lambda path: path.stem
)
def test_a_command_file_is_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 120


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["instal"], "did you mean install"),
        (["zzz"], "no command 'zzz'"),
        (["--zzz"], "No such option"),
        (["show"], "Missing argument"),
        (["search", "x", "--limit", "0"], "--limit"),
        (["install", "x", "--rot", "y"], "No such option"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_a_slip_is_exit_code_2_with_a_hint(shell: Shell, arguments: list[str], words: str) -> None:
    ran = shell(*arguments, expect=2)
    assert words in ran.err and "--help" in ran.err and ran.out == ""
    error = shell(*arguments, "--json", expect=2).error
    assert error["code"] == "invalid-input" and words in error["message"] and error["hint"]


def test_every_error_class_has_its_exit_code() -> None:
    def leaves(kind: type[MarketError]) -> set[type[MarketError]]:
        return {kind} | {leaf for below in kind.__subclasses__() for leaf in leaves(below)}

    own = {kind for kind in leaves(MarketError) if kind.__module__ == "market.errors"} - {MarketError}
    assert {report.exit_code_of(kind("x")) for kind in own} == {2, 3, 4, 5, 6, 7, 8, 9}
    assert report.exit_code_of(Unauthenticated("x")) == 6
    assert report.exit_code_of(Bug("x")) == report.exit_code_of(MarketError("x")) == 70


def broken(*_: object, **__: object) -> object:
    raise ZeroDivisionError("secret detail")


def test_a_bug_is_a_sentence_and_a_log_file(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(shell.folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(importlib.import_module("market.cli.commands.list_packs"), "chosen_roots", broken)
    ran = shell("list", expect=70)
    assert "a bug in market: ZeroDivisionError" in ran.err and "secret detail" not in ran.err
    (log,) = shell.folder.glob("market-bug-*.log")
    assert str(log) in ran.err
    assert "secret detail" in log.read_text() and "Traceback" in log.read_text()
    assert shell("list", "--json", expect=70).error["code"] == "bug"


def interrupted(*_: object, **__: object) -> object:
    raise KeyboardInterrupt


def test_an_interrupt_is_quiet(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("market.cli.commands.list_packs"), "chosen_roots", interrupted)
    ran = shell("list", expect=130)
    assert ran.out == ran.err.strip() == ""


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [MARKET, "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "MARKET_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 141)


@pytest.mark.parametrize("shell_name", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: Shell, shell_name: str) -> None:
    assert "_MARKET_COMPLETE" in shell("completion", shell_name).out


def test_completion_offers_commands(tmp_path: Path) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "_MARKET_COMPLETE": "bash_complete",
        "COMP_WORDS": "market un",
        "COMP_CWORD": "1",
        "HOME": str(tmp_path),
    }
    done = subprocess.run([MARKET], env=environ, capture_output=True, text=True, check=True)
    assert "uninstall" in done.stdout


def test_words_from_elsewhere_do_not_steer_the_terminal(shell: Shell) -> None:
    ran = shell("show", "x\x1b[31m", expect=2)
    assert "\x1b" not in ran.err


def test_errors_in_json_keep_stdout_pure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MARKET_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run(["check", "nowhere", "--json"]) == 3
    out, err = capsys.readouterr()
    assert out.startswith("{") and err == ""
