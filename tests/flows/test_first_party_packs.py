"""The plugin packs of this repository, as a user gets them: built, checked with their dependencies, installed into a running host, called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.host.hosts import MARKET, start_host

if TYPE_CHECKING:
    from tests.host.hosts import HostUnderTest

PLUGINS = Path(__file__).parent.parent.parent / "plugins"

CALLS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "json_diff": ({"before": {"a": 1}, "after": {"a": 2}}, {"same": False, "count": 1}),
    "table_to_csv": ({"text": "| a |\n|---|\n| 1 |\n"}, {"csv": "a\n1\n", "tables": 1}),
    "redact_secrets": ({"text": "password=correct-horse"}, {"text": "password=[redacted]", "count": 1}),
    "regex_test": ({"pattern": "b+", "text": "abbb"}, {"valid": True, "count": 1}),
    "count_words": ({"text": "one two"}, {"words": 2}),
}


def build(project: str, folder: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=PLUGINS / project,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob(f"{project.replace('-', '_')}-*.whl")
    return path


def market(host: HostUnderTest, *arguments: str) -> Any:
    environment = {**os.environ, "MARKET_HOME": str(host.home / "market"), "NO_COLOR": "1"}
    done = subprocess.run(
        [MARKET, *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.flow
def test_both_packs_are_checked_installed_called_and_gone(tmp_path: Path) -> None:
    wheels = [build(project, tmp_path / "dist") for project in ("skills-content-demo", "skills-text-tools")]
    with start_host(tmp_path, fill=lambda root: None) as host:
        checked = market(host, "check", *map(str, wheels))
        assert [(item["name"], item["publishable"], item["problems"]) for item in checked["items"]] == [
            ("skills-content-demo", True, []),
            ("skills-text-tools", True, []),
        ]
        market(host, "install", *map(str, wheels), "--root", str(host.root))
        assert {*host.skill_keys()} == {"meeting-notes", *CALLS}
        for key, (params, expected) in CALLS.items():
            answer = host.execute(key, params, role="viewer").json()
            assert answer["kind"] == "ok", answer
            assert answer["result"].items() >= expected.items()
        late = host.execute("table_to_csv", {"text": "none"}).json()
        assert (late["kind"], late["error"].splitlines()[0]) == (
            "failed",
            "it raised ValueError: there is no table 1: the text has 0",
        )
        market(host, "uninstall", "skills-content-demo", "skills-text-tools", "--root", str(host.root))
        assert host.skill_keys() == []
