"""One cache, several processes at once, some of them killed: every archive whole, and each downloaded once where nobody dies."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.client.server import Answer, Asked, serve
from tests.client.test_resume import CONTENT, PIECE, Breaking

pytestmark = pytest.mark.flow

FETCH = """
import sys
from pathlib import Path
from market.client.cache import ArchiveCache
from market.client.transport import RequestsTransport
from market.names import Digest
folder, url, size, *digests = sys.argv[1:]
transport = RequestsTransport("index", environ={})
for digest in digests:
    def write(out):
        return transport.download(f"{url}/{digest}", "", out, int(size))
    with ArchiveCache(Path(folder)).fetch(Digest(digest), int(size), write) as stream:
        content = stream.read()
    print(len(content))
"""
REPOSITORY = Path(__file__).parents[2]


def start(folder: Path, url: str, *digests: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", FETCH, str(folder), url, str(len(CONTENT)), *digests]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents() -> dict[str, bytes]:
    made = [bytes([number]) + CONTENT[1:] for number in range(4)]
    return {f"sha256:{hashlib.sha256(content).hexdigest()}": content for content in made}


def test_processes_share_one_download_of_each_archive(tmp_path: Path) -> None:
    archives = contents()

    def answer(asked: Asked) -> Answer:
        time.sleep(0.2)
        return Breaking(piece=len(CONTENT), content=archives[asked.path[1:]])(asked)

    with serve(answer) as server:
        processes = [start(tmp_path / "cache", server.url, *archives) for _ in range(6)]
        ended = [process.communicate(timeout=60) for process in processes]
    assert [out.split() for out, _ in ended] == [[str(len(CONTENT))] * 4] * 6, ended
    assert sorted(asked.path[1:] for asked in server.asked) == sorted(archives)
    assert {path.read_bytes() for path in (tmp_path / "cache").iterdir()} == set(archives.values())


def test_a_killed_download_is_continued_by_whoever_waited(tmp_path: Path) -> None:
    digest, content = next(iter(contents().items()))
    served, killed = threading.Event(), threading.Event()

    def answer(asked: Asked) -> Answer:
        if not served.is_set():
            served.set()
            return Breaking(piece=PIECE, content=content)(asked)
        killed.wait(30)
        return Breaking(piece=len(CONTENT), content=content)(asked)

    with serve(answer) as server:
        first = start(tmp_path, server.url, digest)
        assert served.wait(30)
        others = [start(tmp_path, server.url, digest) for _ in range(3)]
        deadline = time.monotonic() + 30
        part = tmp_path / f"{digest[7:]}.part"
        while not part.exists() or part.stat().st_size < PIECE:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.5)
        first.kill()
        first.communicate()
        killed.set()
        ended = [process.communicate(timeout=60) for process in others]
    assert [out.split() for out, _ in ended] == [[str(len(CONTENT))]] * 3, ended
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [content]
    assert server.asked[-1].headers["Range"] == f"bytes={PIECE}-"
