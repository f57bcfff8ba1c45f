"""Commands that meet another one in the same root: they wait as long as they were told, and name the holder."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from market.installer.root import open_root
from market.installer.transaction import lock_root
from tests.cli.test_installing import publish

if TYPE_CHECKING:
    from tests.cli.shell import Shell


@pytest.mark.parametrize(
    "arguments",
    [
        ("install", "my-pack"),
        ("upgrade",),
        ("uninstall", "my-pack"),
        ("rollback", "my-pack"),
        ("sync",),
        ("pin", "my-pack", "--reason", "x"),
        ("disable", "my-pack"),
        ("enable", "my-pack"),
        ("verify", "--accept", "my-pack"),
        ("doctor", "--fix"),
        ("import", "bundle.zip"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_held_root_is_waited_for_and_its_holder_named(shell: Shell, arguments: tuple[str, ...]) -> None:
    publish(shell)
    shell("install", "my-pack")
    if arguments[0] == "sync":
        shell("lock")
    if arguments[0] == "import":
        shell("export", "my-pack", "-o", "bundle.zip")
    started = time.monotonic()
    with lock_root(open_root(shell.root, create=False)):
        ran = shell(*arguments, "--lock-timeout", "0.1", expect=7)
    assert f"is locked by process {os.getpid()}" in ran.err and "waited 0.1 s" in ran.err
    assert time.monotonic() - started < 5
    shell("install", "my-pack", "--lock-timeout", "-1", expect=2)
