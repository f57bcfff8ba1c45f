"""The real server: `market index serve` as a process, published to and read over sockets."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.factories import a_source
from tests.index.builders import a_described_source, archive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.flow

WAIT_SECONDS = 30
PROGRAM = "import sys; from index.cli import index_group; index_group(lambda url, token: print('remember', url, token, file=sys.stderr))()"


@contextmanager
def serving(home: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    command = [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--json", *flags]
    process = subprocess.Popen(
        command,
        env={"MARKET_HOME": str(home), "PATH": "/usr/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()


def put(url: str, body: bytes, token: str, version: str = "1.0.0") -> requests.Response:
    return requests.put(
        f"{url}/v1/packs/echo-args/{version}",
        data=body,
        headers={"Authorization": f"Bearer {token}"},
        timeout=WAIT_SECONDS,
    )


def test_first_day_needs_no_flag(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, ready):
        assert (ready["pid"], ready["data"], ready["api"]) == (
            process.pid,
            str(tmp_path / "index"),
            ready["url"] + "/v1",
        )
        token = (tmp_path / "index" / "owner.token").read_text().strip()
        assert put(ready["url"], archive(a_source()), token).status_code == 201
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=WAIT_SECONDS)
    assert (process.returncode, out) == (0, ""), err
    assert f"remember {ready['url']} {token}" in err


def test_published_pack_outlives_kill_9(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, ready):
        token = (tmp_path / "index" / "owner.token").read_text().strip()
        published = put(ready["url"], archive(a_source()), token).json()
        process.kill()
        process.wait()
    with serving(tmp_path) as (_, ready):
        assert (
            requests.get(f"{ready['url']}/v1/packs/echo-args/index.json", timeout=WAIT_SECONDS).json()["latest"]
            == "1.0.0"
        )
        blob = requests.get(
            f"{ready['url']}/v1/blobs/{published['archive_digest'].replace(':', '/')}", timeout=WAIT_SECONDS
        )
        assert blob.content == archive(a_source())


def test_of_publishes_to_two_processes_exactly_one_wins(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as (_, ready), ThreadPoolExecutor(8) as pool:
        token = (tmp_path / "index" / "owner.token").read_text().strip()
        bodies = [archive(a_described_source(f"Variant {number}.")) for number in range(8)]
        statuses = sorted(pool.map(lambda body: put(ready["url"], body, token).status_code, bodies))
    assert statuses == [201] + [409] * 7


def test_whole_file_and_range_over_the_real_server(tmp_path: Path) -> None:
    with serving(tmp_path) as (_, ready):
        token = (tmp_path / "index" / "owner.token").read_text().strip()
        body = archive(
            a_source({"skill.json": a_source().read("skill.json"), "run.sh": b"#!/bin/sh\n" + b"x" * 700_000})
        )
        digest = put(ready["url"], body, token).json()["archive_digest"]
        url = f"{ready['url']}/v1/blobs/{digest.replace(':', '/')}"
        whole = requests.get(url, timeout=WAIT_SECONDS)
        assert (whole.content == body, whole.headers["content-length"]) == (True, str(len(body)))
        part = requests.get(url, headers={"Range": "bytes=5-600000"}, timeout=WAIT_SECONDS)
        assert (part.status_code, part.content == body[5:600001]) == (206, True)
        head = requests.head(url, timeout=WAIT_SECONDS)
        assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(body)))
        assert (
            requests.get(url, headers={"If-None-Match": whole.headers["etag"]}, timeout=WAIT_SECONDS).status_code == 304
        )
