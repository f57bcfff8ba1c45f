"""Other package indexes to measure beside ours, installed when a benchmark runs: pypiserver and devpi, each over the same wheels."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.servers import UV, Server, free_port, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

# devpi-server asks setuptools for pkg_resources, which newer ones don't have.
DISTRIBUTIONS = ("pypiserver", "devpi-server", "setuptools<81")
BOUNDARY = "market-bench"
START_SECONDS = 120


@dataclass(frozen=True)
class Uploader:
    """Sends wheels over one connection, as twine does."""

    url: str
    path: str
    authorization: str = ""

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection."""
        return http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=60)

    def send(self, connection: http.client.HTTPConnection, filename: str, body: bytes) -> None:
        """Upload one wheel."""
        headers = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Accept": "application/json"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        connection.request("POST", self.path, upload_form(filename, body), headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status not in (200, 201):
            raise RuntimeError(f"{self.url}{self.path} answered {response.status}: {answer[:300]!r}")


def upload_form(filename: str, body: bytes) -> bytes:
    """Return the form that twine and uv send for a wheel."""
    name, version = filename.split("-")[:2]
    fields = {
        ":action": "file_upload",
        "protocol_version": "1",
        "metadata_version": "2.1",
        "name": name,
        "version": version,
        "filetype": "bdist_wheel",
        "pyversion": "py3",
        "sha256_digest": hashlib.sha256(body).hexdigest(),
        "blake2_256_digest": hashlib.blake2b(body, digest_size=32).hexdigest(),
    }
    head = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
        for key, value in fields.items()
    )
    head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="{filename}"\r\n\r\n'
    return head.encode() + body + f"\r\n--{BOUNDARY}--\r\n".encode()


@contextmanager
def pypiserver(folder: Path) -> Iterator[Server]:
    """Start pypiserver over a folder of wheels; it takes uploads from everybody."""
    port = free_port()
    options = ["run", "-i", "127.0.0.1", "-p", str(port), "-P", ".", "-a", ".", "--disable-fallback", str(folder)]
    with _process([_program("pypi-server"), *options], folder.parent / "pypiserver.log") as process:
        wait_for(port, START_SECONDS)
        yield Server(f"http://127.0.0.1:{port}", process.pid, {})


@contextmanager
def devpi(folder: Path) -> Iterator[tuple[Server, Uploader]]:
    """Start an empty devpi with one index, and yield how to upload to it."""
    port, secret = free_port(), "bench-secret"
    data = ["--serverdir", str(folder / "data")]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "init.log").open("wb") as log:
        command = [_program("devpi-init"), *data, "--no-root-pypi", "--root-passwd", secret]
        subprocess.run(command, check=True, stdout=log, stderr=log, env=_environment(folder))
    with _process([_program("devpi-server"), *data, "--port", str(port)], folder / "server.log") as process:
        wait_for(port, START_SECONDS)
        url = f"http://127.0.0.1:{port}"
        answer = _call(url, "POST", "/+login", {"user": "root", "password": secret})
        credentials = base64.b64encode(f"root:{answer['result']['password']}".encode()).decode()
        _call(url, "PUT", "/root/bench", {"bases": [], "volatile": True}, credentials)
        yield Server(url, process.pid, {}), Uploader(url, "/root/bench/", f"Basic {credentials}")


def _call(url: str, method: str, path: str, body: object, credentials: str = "") -> dict[str, dict[str, str]]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if credentials:
        headers["X-Devpi-Auth"] = credentials
    connection.request(method, path, json.dumps(body), headers)
    response = connection.getresponse()
    answer: dict[str, dict[str, str]] = json.loads(response.read())
    if response.status not in (200, 201):
        raise RuntimeError(f"{path} answered {response.status}: {answer}")
    return answer


@contextmanager
def _process(command: list[str], log_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=_environment(log_path.parent)
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONWARNINGS": "ignore"}


def _program(name: str) -> str:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "skill-market-tests" / "bench-peers"
    if not (folder / ".complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
        install = [UV, "pip", "install", "--quiet", "--python", str(folder / "bin/python"), *DISTRIBUTIONS]
        subprocess.run(install, check=True)
        (folder / ".complete").touch()
    return str(folder / "bin" / name)


def settle(seconds: float = 1.0) -> None:
    """Let a server that has just started finish what it does by itself."""
    time.sleep(seconds)
