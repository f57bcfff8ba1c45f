"""Packs and skills that are switched off, held or rolled back while the host runs: the same process follows at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.host.hosts import start_host
from tests.registry.trees import a_command_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.host.hosts import HostUnderTest

pytestmark = pytest.mark.flow


def empty(_: Path) -> None:
    """Leave the root as it is."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostUnderTest]:
    with start_host(tmp_path_factory.mktemp("host"), fill=empty) as running:
        yield running


def state(host: HostUnderTest, key: str) -> str:
    return str(host.get(f"/v1/skills/{key}")["state"])


def install(host: HostUnderTest, folder: Path, name: str, **fields: object) -> None:
    a_command_folder(folder / name, **fields)
    host.market("install", str(folder / name), "--root", str(host.root))


def test_disable_and_enable_are_followed_without_a_restart_and_say_how_fast(
    host: HostUnderTest, tmp_path: Path
) -> None:
    install(host, tmp_path, "switched")
    pid = host.get("/healthz", role="")["pid"]
    said = host.market("disable", "switched", "--root", str(host.root))
    assert (taken := re.search(r"so it is in (\d+) ms at http", said)) and int(taken[1]) < 2000, said
    assert state(host, "switched") == "disabled"
    assert host.execute("switched", {}).status_code == 403
    assert "disabled" in host.market("list", "--root", str(host.root))
    host.market("enable", "switched", "--root", str(host.root))
    assert host.execute("switched", {"a": 1}).json()["result"] == {"a": 1}
    assert host.get("/healthz", role="")["pid"] == pid


def test_a_held_skill_is_live_again_when_its_edits_are_accepted(host: HostUnderTest, tmp_path: Path) -> None:
    install(host, tmp_path, "mutates", **{"class": "mutating"})
    (host.root / "mutates" / "run.sh").write_text("#!/bin/sh\necho '{\"edited\": true}'\n")
    host.wait_for(lambda: state(host, "mutates") == "held", 5.0)
    assert "so it is in" in host.market("verify", "--accept", "mutates", "--root", str(host.root))
    assert state(host, "mutates") == "live"
    assert host.execute("mutates", {}).json()["result"] == {"edited": True}


def test_a_rollback_is_live_at_once(host: HostUnderTest, tmp_path: Path) -> None:
    install(host, tmp_path, "rolled", version="1.0.0")
    install(host, tmp_path, "rolled", version="2.0.0")
    assert host.get("/v1/skills/rolled")["version"] == "2.0.0"
    said = host.market("rollback", "rolled", "--root", str(host.root))
    assert "rolled back rolled 1.0.0 (was 2.0.0)" in said and "live in" in said
    assert host.get("/v1/skills/rolled")["version"] == "1.0.0"
