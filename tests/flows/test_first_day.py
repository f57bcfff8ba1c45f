"""The first day needs no flag: five commands, in this order, on an empty home."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from tests.flows.processes import World

pytestmark = pytest.mark.flow


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_first_day_needs_no_flag(world: World) -> None:
    pack = world.home / "my-pack"
    pack.mkdir()
    (pack / "skill.json").write_text(
        json.dumps(
            {
                "name": "my_pack",
                "version": "1.0.0",
                "description": "Echo. Use when testing.",
                "entry": "run.sh",
                "class": "safe",
            }
        )
    )
    (pack / "run.sh").write_text("#!/bin/sh\nread -r line\nprintf '%s' \"$line\"\n")
    (pack / "run.sh").chmod(0o755)

    with world.serve("index", "serve") as index:
        published = world.run("publish", "./my-pack")
        assert "my-pack 1.0.0" in published.out and index["url"] in published.out
        with world.serve("host", "serve") as host:
            installed = world.run("install", "my-pack")
            assert "live in" in installed.out and host["url"] in installed.out
            ran = world.run("run", "my-pack", "--args", '{"x": 1}')
            assert ran.json == {"x": 1}
        token = Path(world.environment["MARKET_HOME"]) / "host-admin.token"
        assert stat.S_IMODE(os.stat(token).st_mode) == 0o600


def test_an_install_without_a_running_host_says_so(world: World) -> None:
    world.run("new", "greeter", "--kind", "command")
    installed = world.run("install", "greeter", "--version", "1.0.0")
    assert "no running host serves" in installed.out
