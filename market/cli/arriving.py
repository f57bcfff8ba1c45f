"""From what somebody asks to install: requirements for an index, and arrivals of folders and archives.

All are verified before anything is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.building import build_folder
from market.cli.fetching import fetch_address, is_address
from market.cli.git_source import fetch_from_git
from market.cli.importing import open_archive
from market.cli.targets import existing_path
from market.client.git_address import is_git
from market.disk.failures import disk_failures
from market.disk.foreign import open_canonical
from market.errors import naming
from market.installer.acquire import acquire_archive, acquire_imported
from market.installer.receipt import Origin
from market.installer.wheels import acquire_wheel
from market.pack.inspect import Given
from market.pack.wheel import WHEEL_SUFFIX

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from market.cli.fetching import Fetched
    from market.cli.market import Market
    from market.installer.dependencies import DependencyTerms
    from market.installer.transaction import Arrival

URL_KIND = "url"


def fetch_arrival(
    market: Market, stack: ExitStack, target: str, given: Given, dependencies: DependencyTerms
) -> Arrival:
    """Return the arrival that a target other than a requirement names; of a wheel with its `dependencies`."""
    if is_git(target):
        return fetch_from_git(stack, target, given, dependencies)
    if is_address(target):
        return _from_elsewhere(fetch_address(market, stack, target), stack, given, dependencies)
    path = existing_path(target)
    with naming(target):
        return _from_disk(stack, path, given, dependencies)


def _from_elsewhere(fetched: Fetched, stack: ExitStack, given: Given, dependencies: DependencyTerms) -> Arrival:
    origin, name = Origin(URL_KIND, fetched.address), fetched.file_name
    if name.endswith(WHEEL_SUFFIX):
        return acquire_wheel(fetched.stream, name, origin, dependencies, given=given)
    return acquire_imported(stack.enter_context(open_canonical(fetched.stream, given)), origin, dependencies)


def _from_disk(stack: ExitStack, path: Path, given: Given, dependencies: DependencyTerms) -> Arrival:
    location = str(path.absolute())
    if path.suffix == WHEEL_SUFFIX and not path.is_dir():
        with disk_failures("read", path):
            stream = stack.enter_context(path.open("rb"))
        return acquire_wheel(stream, path.name, Origin("archive", location), dependencies, given=given)
    if path.is_dir():
        draft = stack.enter_context(build_folder(path, given))
        version = str(draft.pack.version or "")
        known = Given(name=draft.pack.name, version=version)
        return acquire_archive(draft.stream, known, Origin("folder", location), dependencies)
    return acquire_imported(stack.enter_context(open_archive(path, given)), Origin("archive", location), dependencies)
