"""A pack out of a git repository, as a folder that is gone after the command. What git may do is `market.client.git`'s."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from market.cli.building import build_folder
from market.client.git import fetch_git
from market.client.git_address import parse_git_address
from market.disk.failures import disk_failures
from market.errors import InvalidInput
from market.installer.acquire import acquire_archive
from market.installer.receipt import Origin
from market.pack.inspect import Given

if TYPE_CHECKING:
    from contextlib import ExitStack

    from market.installer.composition import Composition
    from market.installer.dependencies import DependencyTerms
    from market.installer.transaction import Arrival

GIT_KIND = "git"


def fetch_from_git(
    stack: ExitStack, target: str, given: Given, dependencies: DependencyTerms, locked: Composition | None = None
) -> Arrival:
    """Return the arrival of an address in git; its origin names the commit, whatever branch or tag was asked for."""
    address = parse_git_address(target)
    with disk_failures("write a temporary folder for", target):
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="market-git-"))) / address.name
        folder.mkdir()
        commit = fetch_git(address, folder)
    try:
        draft = stack.enter_context(build_folder(folder, given))
    except InvalidInput as error:
        hint = "correct it there; in a clone `market check` shows everything"
        raise InvalidInput(f"{target} holds no good pack", problems=error.problems, hint=hint) from None
    known = Given(name=draft.pack.name, version=str(draft.pack.version or ""))
    return acquire_archive(draft.stream, known, Origin(GIT_KIND, str(address.at(commit))), dependencies, locked)
