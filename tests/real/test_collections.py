"""Published collections through the whole road: check, archive, publish, install, live in a running host."""

from __future__ import annotations

import shutil
import tomllib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from market.client.host_client import HostClient
from market.client.transport import RequestsTransport
from tests.flows.processes import World
from tests.real.corpus import FOLDERS, Published, all_folders, chosen, independent_tree_digest
from tests.real.road import Walked, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm fetches one of the collections"),
]

PINNED = Path(__file__).with_name("pinned.toml")


@pytest.fixture(scope="module")
def folders() -> list[Published]:
    return all_folders()


@pytest.fixture(scope="module")
def road(folders: list[Published], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Walked]]:
    world = World(tmp_path_factory.mktemp("real"))
    with ExitStack() as servers:
        servers.enter_context(world.serve("index", "serve"))
        url = servers.enter_context(world.serve("host", "serve"))["url"]
        token = (world.home / "market/host-admin.token").read_text().strip()
        host = HostClient(RequestsTransport("host"), url, token)
        yield {folder.key: walk(world, host, folder) for folder in chosen(folders)}


def test_the_collections_are_the_ones_that_were_reviewed(folders: list[Published]) -> None:
    assert Counter(folder.collection for folder in folders) == FOLDERS


def test_every_folder_ends_live_with_the_tree_of_its_source(road: dict[str, Walked], folders: list[Published]) -> None:
    sources = {folder.key: folder.path for folder in folders}
    refused, needy = _pinned("refused"), _pinned("ineligible")
    wrong: list[tuple[str, object]] = []
    for key, walked in road.items():
        if key in refused:
            continue
        # Whether a program is there depends on the machine; that it is asked for depends on the pack.
        if walked.refused or walked.state not in ({"live", "ineligible"} if key in needy else {"live"}):
            wrong.append((key, walked))
        elif walked.tree_digest != independent_tree_digest(sources[key]):
            wrong.append((key, "the installed tree is not the source's"))
    assert wrong == []


def test_the_pinned_list_says_exactly_what_is_refused_and_where(road: dict[str, Walked]) -> None:
    pinned = _pinned("refused")
    seen = {key: set(walked.refused) for key, walked in road.items() if walked.refused}
    assert seen == {key: {(row["rule"], row["line"]) for row in rows} for key, rows in pinned.items() if key in road}
    assert not any(key.startswith(("arc-free-skills/", "bitranox-skills/")) for key in pinned)


def _pinned(table: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in tomllib.loads(PINNED.read_text(encoding="utf-8")).get(table, []):
        found.setdefault(row["folder"], []).append(row)
    return found
