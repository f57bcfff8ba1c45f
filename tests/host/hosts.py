"""A host as its users meet it: a process of its own, asked over HTTP."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import requests

from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md
from tests.registry.trees import a_command_folder, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MARKET = str(Path(sys.executable).with_name("market"))
READY_SECONDS = 30.0
ANSWER_SECONDS = 30.0

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look."},
        "depth": {"type": "integer", "default": 2, "minimum": 1, "maximum": 9},
        "mode": {"enum": ["fast", "thorough"], "default": "fast"},
        "dry_run": {"type": "boolean", "default": True},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["path"],
}
FAIL_SCRIPT = b"#!/bin/sh\necho 'looking around' >&2\necho 'the disk is on fire' >&2\nexit 3\n"


@dataclass
class HostUnderTest:
    """A running host. `roles` holds a token for each role."""

    url: str
    pid: int
    home: Path
    root: Path
    login_url: str
    process: subprocess.Popen[str]
    log: Path
    roles: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, role: str = "admin", **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.roles[role]}"} if role else {}
        headers.update(options.pop("headers", {}))
        return requests.request(method, self.url + path, headers=headers, timeout=ANSWER_SECONDS, **options)

    def get(self, path: str, role: str = "admin", **options: Any) -> Any:
        answer = self.ask("GET", path, role, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def execute(self, key: str, params: object, role: str = "admin", **more: object) -> requests.Response:
        return self.ask("POST", f"/v1/skills/{key}/execute", role, json={"params": params, **more})

    def skill_keys(self) -> list[str]:
        return [row["key"] for row in self.get("/v1/skills")["items"]]

    def wait_for(self, answer: Callable[[], object], seconds: float = 5.0) -> float:
        """Wait until the answer is true and return the seconds that it took."""
        started = time.monotonic()
        while not answer():
            assert time.monotonic() < started + seconds, self.log.read_text()[-3000:]
            time.sleep(0.005)
        return time.monotonic() - started

    def market(self, *arguments: str) -> str:
        done = subprocess.run(
            [MARKET, *arguments], env=environment(self.home), capture_output=True, text=True, timeout=ANSWER_SECONDS, check=True
        )
        return done.stdout

    @property
    def log_messages(self) -> list[str]:
        return [json.loads(line)["message"] for line in self.log.read_text().splitlines() if line.startswith("{")]


def environment(home: Path, **more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "MARKET_HOME": str(home / "market"), "NO_COLOR": "1", **more}


def furnish(root: Path) -> None:
    """Put one skill of each class, a guide, and broken manifests into a root."""
    a_command_folder(root / "look", schema=SCHEMA, category="disk", description="Looks at <a> directory & says what is there.")
    a_command_folder(root / "change", category="disk", **{"class": "mutating"})
    a_command_folder(root / "destroy", **{"class": "dangerous"})
    a_command_folder(root / "fails")
    write_tree(root / "fails", {"run.sh": FAIL_SCRIPT})
    guide = a_skill_md("greeting", extra="", body="# Greet\n\nSee [more](references/more.md).\n")
    write_tree(root / "greeting", {"SKILL.md": guide, "references/more.md": "More.\n", "logo.png": b"\x89PNG\x00\xff"})
    write_tree(root / "secret", {"SKILL.md": a_skill_md("secret", extra="disable-model-invocation: true\n")})
    write_tree(root / "broken", {"skill.json": "{,}"})
    write_tree(root / "both", {"skill.json": a_skill_json(name="both_sides"), "run.sh": RUN_SCRIPT, "SKILL.md": a_skill_md("both-sides")})


@contextmanager
def start_host(
    folder: Path, *, fill: Callable[[Path], None] = furnish, flags: tuple[str, ...] = (), more: Mapping[str, str] | None = None
) -> Iterator[HostUnderTest]:
    """Start `market host serve` over `folder/root` on a free port and stop it at the end; its end must be clean."""
    root, home, log = folder / "root", folder / "home", folder / "host.log"
    for made in (root, home):
        made.mkdir(exist_ok=True)
    fill(root)
    with log.open("w") as stream:
        process = subprocess.Popen(
            [MARKET, "host", "serve", "--root", str(root), "--port", "0", "--json", *flags],
            env=environment(home, **(more or {})), stdout=subprocess.PIPE, stderr=stream, text=True,
        )  # fmt: skip
    try:
        ready = _read_ready(process, log)
        host = HostUnderTest(ready["url"], ready["pid"], home, root, ready["login_url"], process, log)
        host.roles["admin"] = (home / "market" / "host-admin.token").read_text().strip()
        for role in ("user", "viewer"):
            host.roles[role] = json.loads(host.market("host", "token", "create", "--role", role, "--name", role, "--json"))["token"]
        yield host
    finally:
        process.terminate()
        code = process.wait(READY_SECONDS)
        process.stdout.close()  # type: ignore[union-attr]
    assert code == 0, log.read_text()[-3000:]


def _read_ready(process: subprocess.Popen[str], log: Path) -> dict[str, Any]:
    assert process.stdout is not None
    select.select([process.stdout], [], [], READY_SECONDS)
    line = process.stdout.readline() if process.poll() is None else ""
    assert line, log.read_text()[-3000:]
    ready: dict[str, Any] = json.loads(line)
    return ready
