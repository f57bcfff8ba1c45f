"""From what somebody asks to install to arrivals: an index's release, a folder, or an archive, each verified before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.cli.building import build_folder, parse_given
from market.cli.importing import open_archive
from market.cli.network import open_index
from market.cli.targets import existing_path, folder_hint, is_path
from market.errors import MarketError, NotFound, Unavailable
from market.installer.acquire import acquire_archive, acquire_first, acquire_imported
from market.installer.receipt import Origin
from market.names import parse_requirement
from market.pack.inspect import Given

if TYPE_CHECKING:
    from contextlib import ExitStack
    from pathlib import Path

    from market.cli.market import Market
    from market.installer.transaction import Arrival


def fetch_arrival(
    market: Market, stack: ExitStack, target: str, *, name: str, version: str, index: str, token: str
) -> Arrival:
    """Return the arrival that a target names. `--name` and `--version` are for folders and archives, so with them it is a path."""
    if is_path(target) or name or version:
        return _from_disk(stack, existing_path(target), parse_given(name, version))
    requirement = parse_requirement(target)
    try:
        choices = market.settings.indexes_for(requirement.name, index, token)
        return acquire_first([open_index(market, choice) for choice in choices], requirement)
    except (NotFound, Unavailable) as error:
        raise _with_hint(error, folder_hint(target)) from None


def _from_disk(stack: ExitStack, path: Path, given: Given) -> Arrival:
    location = str(path.absolute())
    if path.is_dir():
        draft = stack.enter_context(build_folder(path, given))
        version = str(draft.pack.version or "")
        return acquire_archive(draft.stream, Given(name=draft.pack.name, version=version), Origin("folder", location))
    return acquire_imported(stack.enter_context(open_archive(path, given)), Origin("archive", location))


def _with_hint(error: MarketError, hint: str) -> MarketError:
    error.hint = "; ".join(part for part in (error.hint, hint) if part)
    return error
