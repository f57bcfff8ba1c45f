from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.clients.programs import Programs
from tests.flows.processes import World
from tests.index.wheels import a_wheel, an_sdist, wheel_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Served:
    """One index, served twice over the same folder: `url` lets everybody read, `closed` asks for a token always."""

    url: str
    closed: str
    token: str
    data: Path

    @property
    def simple(self) -> str:
        return f"{self.url}/simple/"

    @property
    def closed_simple(self) -> str:
        return f"{self.closed}/simple/"

    @property
    def closed_with_token(self) -> str:
        return self.closed_simple.replace("http://", f"http://__token__:{self.token}@")

    @property
    def legacy(self) -> str:
        return f"{self.url}/legacy/"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    world = World(tmp_path_factory.mktemp("index"))
    data = world.home / "data"
    token = world.run("index", "token", "create", "--data", _made(world, data), "--publisher", "acme", "--json").json["token"]
    with ExitStack() as stack:
        url, closed = (
            stack.enter_context(world.serve("index", "serve", "--data", data, "--anonymous", word))["url"] for word in ("read", "none")
        )
        yield Served(url, closed, token, data)


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    (tmp_path / "home").mkdir()
    return Programs(tmp_path / "home")


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder as a build leaves it: a wheel and an sdist of text-tools 1.0.0."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / wheel_name()).write_bytes(a_wheel())
    (folder / "text_tools-1.0.0.tar.gz").write_bytes(an_sdist())
    return folder


def _made(world: World, data: Path) -> Path:
    world.run("index", "init", "--data", data)
    return data
