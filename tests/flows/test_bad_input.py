"""Bad input through the real command: a clear sentence that says what to do, the right exit code, nothing half-done."""

from __future__ import annotations

import http.server
import json
import socket
import subprocess
import threading
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.flows.processes import SAMPLE_PACKS, World

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.flow

GOOD = {
    "name": "good",
    "version": "1.0.0",
    "description": "Good. Use when testing.",
    "entry": "run.sh",
    "class": "safe",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("bad-input"))


@pytest.fixture(scope="module")
def index(world: World) -> Iterator[str]:
    with world.serve("index", "serve") as ready:
        yield ready["url"]


def write_pack(folder: Path, manifest: dict[str, Any] | str | None = None, files: dict[str, str] | None = None) -> Path:
    folder.mkdir(parents=True)
    if manifest is not None:
        (folder / "skill.json").write_text(manifest if isinstance(manifest, str) else json.dumps(manifest))
        (folder / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
        (folder / "run.sh").chmod(0o755)
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


PACKS: dict[str, tuple[dict[str, Any] | str | None, dict[str, str]]] = {
    "no-manifest": (None, {"notes.txt": "nothing here"}),
    "broken-json": ('{"name": "x",,}', {}),
    "broken-yaml": (None, {"SKILL.md": "---\nname: x\ndescription: [unclosed\n---\n\nText.\n"}),
    "wrong-name": ({**GOOD, "name": "Not A Name"}, {}),
    "wrong-version": ({**GOOD, "version": "one"}, {}),
    "no-version": ({key: value for key, value in GOOD.items() if key != "version"}, {}),
    "entry-outside": ({**GOOD, "entry": "../../bin/sh"}, {}),
}


@pytest.mark.parametrize("name", PACKS)
def test_a_bad_folder_is_not_published(world: World, index: str, name: str, tmp_path: Path) -> None:
    folder = write_pack(tmp_path / name, *PACKS[name])
    ran = world.run("publish", folder, expect=2)
    assert "error:" in ran.err and ("fix:" in ran.err or "hint:" in ran.err)
    assert world.run("browse", "--json").json["total"] == 0


def hostile(path: Path, name: str, *, link: bool = False) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("skill.json", json.dumps(GOOD))
        row = zipfile.ZipInfo(name)
        row.create_system, row.external_attr = 3, (0o120777 if link else 0o100644) << 16
        archive.writestr(row, "/etc/passwd")
    return path


@pytest.mark.parametrize(("name", "link"), [("../outside.txt", False), ("link", True)])
def test_an_archive_that_leaves_its_folder_is_refused_everywhere(
    world: World, index: str, name: str, link: bool, tmp_path: Path
) -> None:
    archive = hostile(tmp_path / "hostile.zip", name, link=link)
    root = tmp_path / "root"
    for command in (["install", archive, "--root", root], ["upload", archive, "--name", "good", "--version", "1.0.0"]):
        ran = world.run(*command, expect=5)
        assert name in ran.err
    assert not (tmp_path / "outside.txt").exists()
    assert [path for path in root.rglob("*") if path.is_file() and path.name != "lock"] == []
    assert world.run("browse", "--json").json["total"] == 0


def test_a_wrong_token_is_refused(world: World, index: str, tmp_path: Path) -> None:
    ran = world.run("publish", write_pack(tmp_path / "good", GOOD), "--token", "skm_wrong", expect=6)
    assert "token" in ran.err
    assert world.run("browse", "--json").json["total"] == 0


def test_an_unknown_pack_is_not_found(world: World, index: str) -> None:
    ran = world.run("install", "no-such-pack", expect=3)
    assert "no-such-pack" in ran.err and "market search" in ran.err


def test_a_taken_port_is_said(world: World, index: str) -> None:
    port = index.rpartition(":")[2]
    for server in ("index", "host"):
        ran = world.run(server, "serve", "--port", port, expect=7)
        assert port in ran.err and "--port" in ran.err


def test_an_index_that_is_down_is_said(world: World) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        ran = world.run("install", "x", "--index", url, expect=7)
    assert url in ran.err and "market index serve" in ran.err


RUBBISH = {
    "html": (200, b"<html>hello</html>"),
    "shape": (200, b'{"items": 3}'),
    "error": (500, b"oops"),
    "cut": (200, b'{"name": "x"'),
}


@contextmanager
def rubbish_server(status: int, body: bytes) -> Iterator[str]:
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize("kind", RUBBISH)
def test_an_index_that_answers_rubbish_is_said(world: World, kind: str) -> None:
    with rubbish_server(*RUBBISH[kind]) as url:
        for command in (["install", "x"], ["search", "x"], ["show", "x"]):
            ran = world.run(*command, "--index", url, expect=7)
            assert url in ran.err


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"this user can't mount a tmpfs: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_said_and_leaves_nothing(world: World, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "big", {**GOOD, "name": "big"}, {"filler.txt": "x" * 2_000_000})
    with mounted(tmp_path / "small", "size=1m") as root:
        ran = world.run("install", pack, "--root", root, expect=7)
        assert "space" in ran.err
        assert world.run("list", "--root", root, "--json").json["items"] == []
        assert [path for path in root.rglob("*") if path.is_file() and path.stat().st_size > 4096] == []
        small = write_pack(tmp_path / "tiny", {**GOOD, "name": "tiny"})
        world.run("install", small, "--root", root)


def test_a_root_that_is_not_writable_is_said(world: World, tmp_path: Path) -> None:
    with mounted(tmp_path / "readonly", "ro,size=1m") as root:
        ran = world.run("install", SAMPLE_PACKS / "host-facts", "--root", root, expect=6)
        assert str(root) in ran.err


def test_a_full_disk_under_the_index_loses_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    pack = write_pack(tmp_path / "big", {**GOOD, "name": "big"}, {"filler.txt": "x" * 8_000_000})
    with mounted(tmp_path / "data", "size=4m") as data, world.serve("index", "serve", "--data", data) as ready:
        token = json.loads(world.run("index", "token", "create", "--data", data, "--publisher", "me", "--json").out)[
            "token"
        ]
        ran = world.run("publish", pack, "--index", ready["url"], "--token", token, expect=7)
        assert "space" in ran.err
        assert world.run("browse", "--index", ready["url"], "--json").json["total"] == 0
        world.run(
            "publish",
            write_pack(tmp_path / "tiny", {**GOOD, "name": "tiny"}),
            "--index",
            ready["url"],
            "--token",
            token,
        )
