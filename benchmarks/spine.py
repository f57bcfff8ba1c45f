"""The road from a folder to a running skill, step by step, each beside a peer and its budget (docs/architecture.md lists the budgets)."""

from __future__ import annotations

import http.client
import io
import json
import os
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.durable import publish_row
from benchmarks.measure import Asked, Get, Sample, Table, repeat, resident_megabytes, side_by_side
from benchmarks.servers import UV, environment, market, nginx, serve
from market.cli.market import open_market
from market.cli.running import open_bench
from market.disk.walk import open_folder
from market.pack.build import archive_pack
from market.pack.inspect import Given

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.servers import Server

PUBLISHES = 100
ROUNDS = 80
INSTALLS = 7
LIVE_ROUNDS = 40
LIVE_SIZES = (10, 1_000, 10_000)
CALLS = 100
MANY_FILES, MANY_BYTES = 200, 5_000_000


def tables() -> Iterator[Table]:
    """Measure and yield one table at a time."""
    with tempfile.TemporaryDirectory(prefix="market-bench-") as folder:
        yield from _index_tables(Path(folder))
        yield from _live_tables(Path(folder))
        yield _call_table(Path(folder))
        yield _start_table(Path(folder))


def write_pack(folder: Path, number: int, extra: dict[str, bytes] | None = None) -> Path:
    """Write a small command pack named `bench-NUMBER`."""
    folder.mkdir(parents=True)
    manifest = {
        "name": f"bench_{number}",
        "version": "1.0.0",
        "description": f"Echo number {number}. Use when something is measured.",
        "entry": "run.sh",
        "class": "safe",
        "env_allow": [],
    }
    (folder / "skill.json").write_text(json.dumps(manifest))
    (folder / "run.sh").write_text("#!/bin/sh\necho '{}'\n")
    (folder / "run.sh").chmod(0o755)
    for name, body in (extra or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def _index_tables(folder: Path) -> Iterator[Table]:
    home = folder / "home"
    home.mkdir()
    with serve(home, "index", "serve") as index:
        token = next(iter(json.loads((home / "credentials.json").read_text()).values()))
        yield _publish_table(folder, index, token)
        yield _document_table(folder, index)
        yield _install_table(folder, home)


def _publish_table(folder: Path, index: Server, token: str) -> Table:
    table = Table("Publish a small pack")
    archives = []
    for number in range(PUBLISHES):
        out = io.BytesIO()
        archive_pack(open_folder(write_pack(folder / f"packs/{number}", number)).source, Given(), out)
        archives.append(out.getvalue())
    connection = http.client.HTTPConnection(index.url.removeprefix("http://"), timeout=30)

    def publish(number: int) -> None:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/zip"}
        connection.request("PUT", f"/v1/packs/bench-{number}/1.0.0", archives[number], headers)
        response = connection.getresponse()
        body = response.read()
        if response.status != 201:
            raise RuntimeError(f"publish answered {response.status}: {body[:300]!r}")

    publish_row(table, "publish", folder / "disk", publish, PUBLISHES)
    return table


def _document_table(folder: Path, index: Server) -> Table:
    table = Table("Read from the index (server's processor time a request)")
    document = Get(f"{index.url}/v1/packs/bench-1/index.json")()
    link = json.loads(document)["releases"][0]["archive"]["url"]
    blob_url = f"{index.url}/v1/" + link.replace("../", "")
    blob = os.urandom(100_000)
    with nginx(folder / "nginx", {"index.json": document, "blob.bin": blob}) as peer:
        beside = Asked(peer.pid, [f"{peer.url}/index.json"])
        own = Asked(index.pid, [f"{index.url}/v1/packs/bench-1/index.json"])
        spent = side_by_side({"nginx": beside, "own": own}, ROUNDS)
        table.ratio("pack document", spent["own"], spent["nginx"], "nginx", 5, unit="us")
        home = folder / "home"
        market(home, "publish", write_pack(folder / "big", 9_000, {"blob.bin": blob}))
        big = json.loads(Get(f"{index.url}/v1/packs/bench-9000/index.json")())["releases"][0]["archive"]["url"]
        beside = Asked(peer.pid, [f"{peer.url}/blob.bin"])
        own = Asked(index.pid, [f"{index.url}/v1/" + big.replace("../", "")])
        spent = side_by_side({"nginx": beside, "own": own}, ROUNDS)
        table.ratio("100 KB file", spent["own"], spent["nginx"], "nginx", 9, unit="us")
    download, searched = repeat(Get(blob_url), 300), repeat(Get(f"{index.url}/v1/search?q=echo+number+42"), 100)
    table.add("download of a small archive", f"p50 {download.p50 * 1e3:.2f} ms, p99 {download.p99 * 1e3:.2f} ms")
    table.add("search among 100 packs", f"p50 {searched.p50 * 1e3:.2f} ms, p99 {searched.p99 * 1e3:.2f} ms")
    memory = resident_megabytes(index.pid)
    table.add("memory of the worker", f"{memory:.0f} MB", budget="< 90 MB", within=memory < 90)
    return table


def _install_table(folder: Path, home: Path) -> Table:
    table = Table("Install, whole process")
    wheel = tiny_wheel(folder / "wheel")
    own = repeat(lambda number: market(home, "install", "bench-1", "--root", folder / f"roots/{number}"), INSTALLS)

    def uv_install(number: int) -> None:
        command = [
            UV,
            "pip",
            "install",
            "--quiet",
            "--no-cache",
            "--no-index",
            "--no-deps",
            "--target",
            str(folder / f"uv/{number}"),
            str(wheel),
        ]
        subprocess.run(command, check=True, env=environment(home))

    tiny = own.p50
    table.ratio("tiny pack", tiny, repeat(uv_install, INSTALLS).p50, "uv pip install --target", 4)
    body = os.urandom(MANY_BYTES // MANY_FILES)
    pack = write_pack(folder / "many", 9_001, {f"references/{number}.bin": body for number in range(MANY_FILES)})
    archive = folder / "many.zip"
    market(home, "publish", pack)
    market(home, "archive", pack, "-o", archive)
    market(home, "install", "bench-9001", "--root", folder / "roots/warm")
    own = repeat(
        lambda number: market(home, "install", "bench-9001", "--root", folder / f"roots/many-{number}"), INSTALLS
    )
    unzip = repeat(
        lambda number: subprocess.run(["unzip", "-q", str(archive), "-d", str(folder / f"unzip-{number}")], check=True),
        INSTALLS,
    )
    table.add(
        "200 files, 5 MB, whole process",
        f"{own.p50 * 1e3:.0f} ms",
        f"a tiny pack {tiny * 1e3:.0f} ms",
    )
    table.ratio("200 files, 5 MB, beyond a tiny pack", max(own.p50 - tiny, 0.0), unzip.p50, "unzip", 1.5)
    return table


def tiny_wheel(folder: Path) -> Path:
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny/__init__.py").write_text("")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n[project]\nname = "tiny"\nversion = "1"\n'
    )
    subprocess.run(
        [UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(folder / "dist"), str(folder)],
        check=True,
    )
    return next((folder / "dist").glob("*.whl"))


def _live_tables(folder: Path) -> Iterator[Table]:
    table = Table("From a rename into the root to live, seen by another process")
    for size in LIVE_SIZES:
        home = folder / f"host-{size}"
        root = home / "skills"
        for number in range(size):
            write_pack(root / f"pack-{number}", number)
        started = time.perf_counter()
        with serve(home, "host", "serve") as host:
            ready = time.perf_counter() - started
            token = (home / "host-admin.token").read_text().strip()
            live = _rename_to_live(home, root, host.url, token, size)
        table.add(
            f"{size:,} skills there",
            f"p50 {live.p50 * 1e3:.1f} ms, p99 {live.p99 * 1e3:.1f} ms",
            f"host ready after {ready:.2f} s",
            budget="p99 <= 40 ms",
            within=live.p99 <= 0.040,
        )
        shutil.rmtree(home)
    yield table


def _rename_to_live(home: Path, root: Path, url: str, token: str, size: int) -> Sample:
    def come_and_go(number: int) -> float:
        key = f"bench_{size + number}"
        get = Get(f"{url}/v1/skills/{key}", {"Authorization": f"Bearer {token}"})
        staged = write_pack(home / f"staged/{number}", size + number)
        started = time.perf_counter()
        staged.rename(root / f"arrival-{number}")
        while not get():
            pass
        return time.perf_counter() - started

    return Sample(tuple(come_and_go(number) for number in range(LIVE_ROUNDS)))


def _call_table(folder: Path) -> Table:
    table = Table("A command call beside bare subprocess.run (p50)")
    for skill_class, limit in (("safe", 0.002), ("mutating", 0.004)):
        pack = write_pack(folder / f"call/{skill_class}", 1)
        manifest = json.loads((pack / "skill.json").read_text())
        (pack / "skill.json").write_text(json.dumps({**manifest, "class": skill_class}))
        own, bare = _time_calls(folder, pack)
        over = own.p50 - bare.p50
        table.add(
            skill_class,
            f"{own.p50 * 1e3:.2f} ms",
            f"subprocess.run {bare.p50 * 1e3:.2f} ms: {over * 1e3:+.2f} ms",
            budget=f"<= +{limit * 1e3:g} ms",
            within=over <= limit,
        )
    return table


def _time_calls(folder: Path, pack: Path) -> tuple[Sample, Sample]:
    """Time calls of a pack's skill through the whole road, then its bare entry."""
    with open_bench(open_market(environment(folder)), (pack,)) as bench:
        bench.call("bench_1", {})
        own = repeat(lambda _: bench.call("bench_1", {}), CALLS)
    entry = pack / "run.sh"
    bare = repeat(lambda _: subprocess.run([entry], input=b"{}", capture_output=True, env={}, check=True), CALLS)
    return own, bare


def _start_table(folder: Path) -> Table:
    table = Table("Start-up of the command line (best of 10)")
    for flag in ("--version", "--help"):
        fastest = min(repeat(partial(_start, folder, flag), 10).seconds)
        table.add(f"market {flag}", f"{fastest * 1e3:.0f} ms", budget="<= 100 ms", within=fastest <= 0.1)
    return table


def _start(folder: Path, flag: str, _number: int) -> None:
    market(folder, flag)
