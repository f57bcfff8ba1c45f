"""The programs that are measured: our index and host, and nginx beside them, each on a free port of this machine."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKET = str(Path(sys.executable).with_name("market"))
UV = str(Path(sys.executable).with_name("uv"))

NGINX_CONFIGURATION = """
daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_requests 1000000; default_type application/json; sendfile on;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/tree; }}
}}
"""


@dataclass(frozen=True)
class Server:
    """A running server."""

    url: str
    pid: int
    ready: dict[str, Any]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a fresh home; compiled code is kept, as on a user's machine."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MARKET_") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {**kept, "MARKET_HOME": str(home), "MARKET_INDEX_SERVER_PORT": "0", "MARKET_HOST_PORT": "0", "NO_COLOR": "1"}


def market(home: Path, *arguments: object) -> str:
    """Run one `market` command and return its standard output."""
    command = [MARKET, *map(str, arguments)]
    return subprocess.run(
        command, env=environment(home), check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    ).stdout


@contextmanager
def serve(home: Path, *arguments: object) -> Iterator[Server]:
    """Start `market ... serve` and yield it when it is ready."""
    with (home / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [MARKET, *map(str, arguments), "--json"],
            env=environment(home),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            stdin=subprocess.DEVNULL,
        )
    assert process.stdout is not None
    try:
        ready = json.loads(process.stdout.readline())
        yield Server(ready["url"], process.pid, ready)
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def nginx(folder: Path, files: dict[str, bytes]) -> Iterator[Server]:
    """Start nginx with one worker over the given files."""
    for name, body in files.items():
        (folder / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / name).write_bytes(body)
    folder.chmod(0o755)
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX_CONFIGURATION.format(folder=folder, port=port))
    binary = shutil.which("nginx") or "/usr/sbin/nginx"
    process = subprocess.Popen(
        [binary, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "user root;"], stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        yield Server(f"http://127.0.0.1:{port}", process.pid, {})
    finally:
        process.terminate()
        process.wait(10)


def free_port() -> int:
    """Return a port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def wait_for(port: int, seconds: float = 4.0) -> None:
    """Wait until something listens on a port."""
    for _ in range(int(seconds / 0.02)):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"nothing listens on port {port}")
