"""Wheel packs in a running host: they come, are called, are replaced and go, and the process stays the same."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from market.installer.uv import find_uv
from tests.factories import a_skill_md
from tests.host.hosts import HostUnderTest, start_host
from tests.run.python_packs import descendants, wait_until
from tests.wheels import a_code_wheel, a_wheel, write_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.flow


@pytest.fixture
def host(tmp_path: Path) -> Iterator[HostUnderTest]:
    with start_host(tmp_path, fill=lambda root: None) as running:
        yield running


def version_called(host: HostUnderTest) -> object:
    answer = host.execute("echo_py", {"a": 1}, role="viewer")
    assert answer.status_code == 200, answer.text
    assert answer.json()["kind"] == "ok", answer.json()
    return answer.json()["result"]["version"]


def test_an_uploaded_wheel_is_live_at_once_upgraded_and_gone(tmp_path: Path, host: HostUnderTest) -> None:
    first = write_wheel(tmp_path, a_code_wheel())
    with first.open("rb") as stream:
        arrived = host.ask("PUT", f"/v1/marketplace/upload?filename={first.name}", data=stream)
    assert arrived.status_code == 200, arrived.text
    assert (arrived.json()["name"], arrived.json()["action"]) == ("demo-pack", "installed")
    (row,) = host.get("/v1/skills")["items"]
    assert (row["key"], row["kind"], row["state"], row["version"], row["class"]) == (
        "echo_py",
        "python",
        "live",
        "1.0.0",
        "safe",
    )
    before, process = set(descendants(host.pid)), host.get("/healthz")["pid"]
    assert version_called(host) == "1.0.0"
    started = set(descendants(host.pid)) - before
    assert started
    host.market(
        "upload", str(write_wheel(tmp_path, a_code_wheel(version="2.0.0"), version="2.0.0")), "--host", host.url
    )
    assert version_called(host) == "2.0.0"
    assert host.ask("DELETE", "/v1/marketplace/installed/demo-pack").status_code == 200
    assert host.execute("echo_py", {}).status_code == 404
    wait_until(lambda: set(descendants(host.pid)) <= before)
    assert host.get("/healthz")["pid"] == process
    rows = host.get("/v1/audit?tool=echo_py")["items"]
    assert {(one["outcome"], one["version"]) for one in rows} >= {("ok", "1.0.0"), ("ok", "2.0.0"), ("unknown", "")}


def test_the_command_line_installs_a_wheel_and_the_host_has_it(tmp_path: Path, host: HostUnderTest) -> None:
    path = write_wheel(tmp_path / "dist", a_code_wheel(manifest={"class": "dangerous"}))
    said = host.market("install", str(path), "--root", str(host.root))
    assert "installed demo-pack 1.0.0" in said
    assert "demo-pack 1.0.0 live in" in said
    assert host.execute("echo_py", {}).status_code == 403, "the gate asks for the class as for a command"


def test_an_upgrade_whose_code_is_broken_says_so_everywhere_and_a_rollback_heals_it(tmp_path: Path, host: HostUnderTest) -> None:
    def put(wheel: bytes, version: str) -> str:
        return host.market("install", str(write_wheel(tmp_path, wheel, version=version)), "--root", str(host.root))

    put(a_code_wheel(), "1.0.0")
    assert version_called(host) == "1.0.0"
    said = put(a_code_wheel("raise RuntimeError('broken build')\n", version="1.1.0"), "1.1.0")
    assert "demo-pack 1.1.0 seen in" in said
    assert "echo_py is invalid: its code can't be used" in said
    assert "RuntimeError: broken build" in said
    (row,) = host.get("/v1/skills?state=all")["items"]
    assert (row["state"], row["version"], [one["rule"] for one in row["problems"]]) == ("invalid", "1.1.0", ["code-fails"])
    assert any('build "echo_py": its code can\'t be used' in line for line in host.log_messages)
    assert host.execute("echo_py", {}).status_code == 422
    assert "live in" in host.market("rollback", "demo-pack", "--root", str(host.root))
    assert version_called(host) == "1.0.0"


def test_a_reload_gives_code_that_failed_another_try(tmp_path: Path, host: HostUnderTest) -> None:
    there = tmp_path / "there"
    code = f"import os\nif not os.path.exists({str(there)!r}):\n    raise OSError('no library')\ndef echo_py():\n    return 1\n"
    host.market("install", str(write_wheel(tmp_path, a_code_wheel(code))), "--root", str(host.root))
    assert host.execute("echo_py", {}).json()["kind"] == "failed"
    wait_until(lambda: host.get("/v1/skills?state=all")["items"][0]["state"] == "invalid")
    there.touch()
    host.market("host", "reload")
    assert host.execute("echo_py", {}).json()["result"] == 1


def test_a_wheel_that_cheats_is_refused_by_its_rule_and_nothing_is_there(tmp_path: Path, host: HostUnderTest) -> None:
    answer = host.ask("PUT", "/v1/marketplace/upload", data=a_code_wheel(more={"evil.pth": "import os"}))
    assert answer.status_code == 422
    assert "wheel-pth" in [problem["rule"] for problem in answer.json()["problems"]]
    assert host.skill_keys() == []
    assert not (host.root / "demo-pack").exists()


def test_a_pack_that_pip_put_into_the_hosts_environment_is_found_at_start_and_on_reload(tmp_path: Path) -> None:
    site = tmp_path / "site"
    put_into(site, write_wheel(tmp_path, a_wheel()))
    with start_host(tmp_path, fill=lambda root: None, more={"PYTHONPATH": str(site)}) as host:
        (row,) = host.get("/v1/skills")["items"]
        assert (row["key"], row["kind"], row["state"], row["pack"], row["version"]) == (
            "greeting",
            "guide",
            "unmanaged",
            "demo-pack",
            "1.0.0",
        )
        assert "Say hello" in host.ask("GET", "/v1/skills/greeting/files/SKILL.md").text
        put_into(
            site,
            write_wheel(
                tmp_path, a_wheel({"second_pack/more/SKILL.md": a_skill_md("more")}, name="second-pack"), "second-pack"
            ),
        )
        assert "2 skills are registered" in host.market("host", "reload")
        assert host.skill_keys() == ["greeting", "more"]
        assert host.market("host", "reload", "--json").startswith('{"url":')


def put_into(site: Path, wheel: Path) -> None:
    """Install a wheel as pip does, with the real installer, where the host's Python looks."""
    command = [
        find_uv({}),
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--offline",
        "--no-cache",
        "--target",
        str(site),
        "--python",
        sys.executable,
    ]
    subprocess.run([*command, str(wheel)], check=True)
