"""A client-only install: no extra. Every client command works; the servers' commands say which extra they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.processes import REPOSITORY, SAMPLE_PACKS, World

pytestmark = pytest.mark.flow

UV = str(Path(sys.executable).with_name("uv"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("client-only")
    subprocess.run(
        [UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", folder / "dist", REPOSITORY],
        check=True,
    )
    (wheel,) = (folder / "dist").glob("skill_market-*.whl")
    python = folder / "venv/bin/python"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    constraints = REPOSITORY / "requirements/dev.txt"
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", python, "--constraint", constraints, wheel], check=True
    )
    home = folder / "home"
    home.mkdir()
    return World(home, market=str(folder / "venv/bin/market"))


@pytest.mark.parametrize("command", ["index", "host"])
def test_a_servers_command_says_which_extra_it_needs(world: World, command: str) -> None:
    ran = world.run(command, "serve", expect=7)
    assert f"skill-market[{command}]" in ran.err


def test_every_client_command_works_without_an_extra(world: World) -> None:
    pack = SAMPLE_PACKS / "host-facts"
    assert "0.1.0" in world.run("--version").out
    world.run("new", "greeter", "--kind", "command")
    world.run("check", "greeter")
    world.run("check", pack)
    world.run("archive", pack, "-o", "host-facts.zip")
    world.run("install", "host-facts.zip")
    assert [row["name"] for row in world.run("list", "--json").json["items"]] == ["host-facts"]
    assert world.run("run", "host_facts", "--args", "{}").json
    assert world.run("audit", "--json").json["items"]
    world.run("uninstall", "host-facts")
    assert world.run("list", "--json").json["items"] == []
    for command in (["search", "x"], ["show", "x"], ["install", "x"], ["publish", pack], ["whoami"]):
        ran = world.run(*command, "--index", "http://127.0.0.1:9", expect=None)
        assert ran.code in (6, 7), (command, ran)
    world.run("logout")
