"""The page on the command line says what the code does: commands, exit codes, JSON fields, variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from market.cli.catalogue import ENTRIES
from market.cli.report import BUG, EXIT_CODES, INTERRUPTED, SKILL_FAILED
from tests.flows.processes import REPOSITORY

if TYPE_CHECKING:
    from tests.cli.shell import Shell

PAGE = (REPOSITORY / "docs" / "command-line.md").read_text()
ROWS = {
    name: row
    for row in re.findall(r"^\| (`[a-z`, ]+`) \| (.*) \|$", PAGE, re.MULTILINE)
    for name in re.findall(r"`(\w+)`", row[0])
}


def test_every_exit_code_is_on_the_page_with_its_slug() -> None:
    for kind, code in EXIT_CODES.items():
        assert re.search(rf"^\| {code} \| .*`{kind.slug}`", PAGE, re.MULTILINE), kind
    for code in (0, SKILL_FAILED, BUG, INTERRUPTED):
        assert f"\n| {code} | " in PAGE


def test_every_command_with_a_document_is_on_the_page() -> None:
    assert set(ENTRIES) - set(ROWS) == {"index", "host", "completion"}


def test_every_variable_is_on_the_page() -> None:
    sources = [
        path.read_text() for folder in ("cli", "client") for path in (REPOSITORY / "market" / folder).rglob("*.py")
    ]
    used = {name for source in sources for name in re.findall(r'"(MARKET_[A-Z_]+)"', source)}
    assert used and all(name in PAGE for name in used)


@pytest.fixture
def used(shell: Shell) -> Shell:
    shell.pack()
    shell("publish", "my-pack")
    return shell


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("new", ["x"]),
        ("check", ["my-pack"]),
        ("archive", ["my-pack"]),
        ("publish", ["my-pack"]),
        ("search", ["my"]),
        ("browse", []),
        ("show", ["my-pack"]),
        ("install", ["my-pack"]),
        ("list", []),
        ("outdated", []),
        ("verify", []),
        ("doctor", []),
        ("pin", ["my-pack", "--reason", "x"]),
        ("disable", ["my-pack"]),
        ("enable", ["my-pack"]),
        ("why", ["my-pack"]),
        ("run", ["./my-pack"]),
        ("whoami", []),
        ("logout", []),
    ],
)
def test_the_fields_of_a_document_are_those_on_the_page(used: Shell, command: str, arguments: list[str]) -> None:
    if command in ("list", "outdated", "verify", "pin", "disable", "enable", "why"):
        used("install", "my-pack")
    document = used(command, *arguments, "--json").json
    fields = set(document) | {field for row in document.get("items", [])[:1] for field in row}
    assert {field for field in fields if not re.search(rf"\b{field}\b", ROWS[command][1])} == set()
