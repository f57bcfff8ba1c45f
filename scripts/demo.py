"""The demo: index, host and installer as three processes on free loopback ports and a temporary folder.

What it prints is what the programs answered. `live_ms` runs from the rename into the root until another process first sees the skill
in `GET /v1/skills`; the rename's own time is the change time of the installed directory's entry, read from the file system.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
SAMPLE_PACKS = ("disk-cleaner", "net-probe", "host-facts", "incident-triage", "release-notes")
SHOWN = "host-facts"
KEY = "host_facts"
ARGS = '{"sections": ["kernel"]}'
POLL_SECONDS = 0.002
LIVE_TIMEOUT_SECONDS = 10


class Demo:
    """One run: a temporary home, the servers, and what was seen."""

    def __init__(self, folder: Path, talk: bool) -> None:
        self.folder, self.talk = folder, talk
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MARKET_")},
            "MARKET_HOME": str(folder / "home"),
            "MARKET_INDEX_SERVER_PORT": "0",
            "MARKET_HOST_PORT": "0",
        }
        self.servers: list[subprocess.Popen[str]] = []

    def say(self, text: str = "") -> None:
        """Print a line for a person."""
        if self.talk:
            print(text, flush=True)

    def market(self, *arguments: object) -> str:
        """Run one `market` command, show it with its answer, and return its standard output."""
        shown = " ".join(shlex.quote(str(argument)) for argument in arguments)
        self.say(f"\n$ market {shown.replace(str(REPOSITORY) + '/', '').replace(str(self.folder), '$DEMO')}")
        command = [self._binary(), *map(str, arguments)]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"market {shown} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        self.say(_indent(done.stdout.replace(str(self.folder), "$DEMO")))
        return done.stdout

    def serve(self, *arguments: str) -> dict[str, Any]:
        """Start a server and return what it says when it is ready."""
        self.say(f"\n$ market {' '.join(arguments)} &")
        log = (self.folder / f"{arguments[0]}.log").open("w")
        process = subprocess.Popen(
            [self._binary(), *arguments, "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        self.servers.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit(
                f"{' '.join(arguments)} did not start:\n{(self.folder / f'{arguments[0]}.log').read_text()}"
            )
        ready: dict[str, Any] = json.loads(line)
        self.say(f"  ready at {ready['url']} (process {ready['pid']})")
        return ready

    def stop(self) -> None:
        """Stop the servers that this run started."""
        for process in self.servers:
            process.send_signal(signal.SIGTERM)
        for process in self.servers:
            process.wait(30)

    def _binary(self) -> str:
        return str(Path(sys.executable).with_name("market"))


class Host:
    """The host's API, as another process sees it."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token

    def get(self, path: str) -> str:
        """Return the body of a GET."""
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=10) as response:
            body: bytes = response.read()
        return body.decode()

    def process_id(self) -> int:
        """Return the host's process id as the host itself says it."""
        return int(json.loads(self.get("/healthz"))["pid"])

    def versions(self) -> dict[str, str]:
        """Return every live key with its version."""
        return {item["key"]: item["version"] for item in json.loads(self.get("/v1/skills"))["items"]}

    def seen_at(self, key: str, version: str, found: list[float]) -> None:
        """Poll until the key is live in that version, and note the wall time."""
        deadline = time.monotonic() + LIVE_TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            if self.versions().get(key) == version:
                found.append(time.time())
                return
            time.sleep(POLL_SECONDS)


def live_ms(demo: Demo, host: Host, root: Path, version: str, *command: str) -> float:
    """Install or upgrade while another thread watches the host; return the milliseconds from the rename to the first sight."""
    found: list[float] = []
    watcher = threading.Thread(target=host.seen_at, args=(KEY, version, found))
    watcher.start()
    demo.market(*command)
    watcher.join()
    if not found:
        raise SystemExit(f"{KEY} {version} did not go live within {LIVE_TIMEOUT_SECONDS} s")
    renamed = (root / SHOWN).stat().st_ctime  # the kernel stamps the moved directory's change time at the rename
    return round((found[0] - renamed) * 1000, 1)


def run(demo: Demo) -> dict[str, Any]:
    """Walk the whole road and return what was seen."""
    index = demo.serve("index", "serve")
    host_ready = demo.serve("host", "serve")
    root = Path(host_ready["roots"][0])
    host = Host(host_ready["url"], (demo.folder / "home/host-admin.token").read_text().strip())
    demo.market("publish", *(REPOSITORY / "sample-packs" / name for name in SAMPLE_PACKS))
    demo.market("search", "disk")
    demo.say(f"\nBrowse the packs: {index['url']}/")
    pid_before = host.process_id()
    first_ms = live_ms(demo, host, root, "1.0.0", "install", SHOWN)
    before = json.loads(demo.market("run", KEY, "--args", ARGS, "--host", host.url))
    edited = next_version(demo.folder / SHOWN)
    demo.market("publish", edited)
    upgrade_ms = live_ms(demo, host, root, "1.1.0", "upgrade", SHOWN)
    after = json.loads(demo.market("run", KEY, "--args", ARGS, "--host", host.url))
    demo.market("install", "incident-triage")
    demo.say("\nWhat a model is told:\n" + _indent(host.get("/v1/prompt").strip()))
    demo.market("uninstall", SHOWN)
    deadline = time.monotonic() + LIVE_TIMEOUT_SECONDS
    while KEY in (left := host.versions()) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    pid_after = host.process_id()
    ok = pid_before == pid_after and KEY not in left and before != after
    return {
        "ok": ok,
        "host_pid_before": pid_before,
        "host_pid_after": pid_after,
        "live_ms": first_ms,
        "upgrade_live_ms": upgrade_ms,
        "result_before": before,
        "result_after": after,
        "skills_after_uninstall": sorted(left),
        "index_url": index["url"],
        "host_url": host_ready["url"],
        "skills_page": host_ready["login_url"],
    }


def next_version(folder: Path) -> Path:
    """Copy the sample pack, raise its version, and let it report the kernel's build as well."""
    shutil.copytree(REPOSITORY / "sample-packs" / SHOWN, folder)
    for name, old, new in (
        ("pack.yaml", "version: 1.0.0", "version: 1.1.0"),
        ("host_facts.py", '"machine": system.machine}', '"machine": system.machine, "build": system.version}'),
    ):
        text = (folder / name).read_text()
        if old not in text:
            raise SystemExit(f"the demo expects {old!r} in {name} of the sample pack {SHOWN}")
        (folder / name).write_text(text.replace(old, new))
    return folder


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())


def main() -> int:
    """Run the demo and return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/demo")
    parser.add_argument("--keep", action="store_true", help="leave the servers running and the folder in place")
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="market-demo-"))
    demo = Demo(folder, talk=not arguments.json)
    try:
        seen = run(demo)
        demo.say(f"\nLive {seen['live_ms']} ms after the rename, upgraded in {seen['upgrade_live_ms']} ms.")
        demo.say(f"The host was never restarted: it is still process {seen['host_pid_after']}.")
        if arguments.keep:
            pids = " ".join(str(server.pid) for server in demo.servers)
            demo.say(f"Left running: {seen['index_url']}/ and {seen['skills_page']}\nStop them with: kill {pids}")
    finally:
        if not arguments.keep:
            demo.stop()
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        print(json.dumps(seen, ensure_ascii=False))
    return 0 if seen["ok"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
