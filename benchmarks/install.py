"""Installing and what comes after it, beside the programs that people know: uv, pip and unzip; and roots with a thousand packs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Table, repeat
from benchmarks.servers import UV, environment, market, serve
from benchmarks.spine import MANY_BYTES, MANY_FILES, tiny_wheel, write_pack
from market.client.wire import ArchiveLink, PackDocument, ReleaseSummary
from market.installer import commit
from market.installer.listing import list_installed
from market.installer.receipt import Origin
from market.installer.root import Root, open_root
from market.installer.transaction import Arrival, install_packs, lock_root
from market.names import parse_requirement
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.resolve.candidates import Prefer
from market.resolve.provider import Wish
from market.resolve.resolve import Question, resolve
from market.trust.verify import verify_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 9
PACKS = 1_000
GRAPH_PACKS, GRAPH_VERSIONS = 300, 5
RECOVERY_SECONDS = 1.0
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def tables() -> Iterator[Table]:
    """Measure and yield one table at a time."""
    with tempfile.TemporaryDirectory(prefix="market-bench-") as folder:
        yield from _process_tables(Path(folder))
        yield _root_table(Path(folder))
        yield _resolve_table()


def _process_tables(folder: Path) -> Iterator[Table]:
    home = folder / "home"
    home.mkdir()
    with serve(home, "index", "serve"):
        market(home, "publish", write_pack(folder / "tiny", 1))
        yield _tiny_table(folder, home)
        yield _many_table(folder, home)


def _tiny_table(folder: Path, home: Path) -> Table:
    """Every program starts, installs one tiny thing into an empty directory, and ends. They take turns, so that load hits all alike."""
    table = Table(f"Install a tiny pack, whole process (best of {ROUNDS})")
    wheel = tiny_wheel(folder / "wheel")
    target = ("install", "--quiet", "--no-index", "--no-deps", "--target")
    own: list[float] = []
    uv: list[float] = []
    pip: list[float] = []
    for number in range(ROUNDS):
        own.append(_timed(partial(market, home, "install", "bench-1", "--root", folder / f"own/{number}")))
        uv.append(_timed(partial(_run, home, UV, "pip", *target, folder / f"uv/{number}", "--no-cache", wheel)))
        pip.append(_timed(partial(_run, home, sys.executable, "-m", "pip", *target, folder / f"pip/{number}", wheel)))
    table.ratio("tiny pack, beside uv", min(own), min(uv), "uv pip install --target", 4)
    ratio = min(pip) / min(own)
    table.add(
        "tiny pack, beside pip",
        f"{min(own) * 1e3:.0f} ms",
        f"pip install --target {min(pip) * 1e3:.0f} ms: {ratio:.1f}x as long",
    )
    start = min(repeat(lambda _: market(home, "--version"), ROUNDS).seconds)
    table.add("of it: the interpreter and the command line", f"{start * 1e3:.0f} ms", "market --version")
    return table


def _many_table(folder: Path, home: Path) -> Table:
    table = Table(f"Install {MANY_FILES} files, {MANY_BYTES / 1e6:.0f} MB (best of {ROUNDS})")
    body = os.urandom(MANY_BYTES // MANY_FILES)
    pack = write_pack(folder / "many", 9_001, {f"references/{number}.bin": body for number in range(MANY_FILES)})
    archive = folder / "many.zip"
    market(home, "publish", pack)
    market(home, "archive", pack, "-o", archive)
    own: list[float] = []
    tiny: list[float] = []
    unzip: list[float] = []
    for number in range(ROUNDS):
        own.append(_timed(partial(market, home, "install", "bench-9001", "--root", folder / f"many-own/{number}")))
        tiny.append(_timed(partial(market, home, "install", "bench-1", "--root", folder / f"many-tiny/{number}")))
        unzip.append(_timed(partial(_run, home, "unzip", "-q", archive, "-d", folder / f"unzip-{number}")))
    table.add("whole process", f"{min(own) * 1e3:.0f} ms", f"a tiny pack {min(tiny) * 1e3:.0f} ms")
    table.ratio("beyond start-up", max(min(own) - min(tiny), 0.0), min(unzip), "unzip", 1.5)
    return table


def _root_table(folder: Path) -> Table:
    table = Table(f"A root with {PACKS:,} packs")
    root = open_root(folder / "root", create=True)
    started = time.perf_counter()
    with lock_root(root) as locked:
        install_packs(locked, [_arrival(number, "1.0.0") for number in range(PACKS)], NOW)
    table.add("install them, one transaction", f"{time.perf_counter() - started:.2f} s")
    quick, thorough = _timed(lambda: list_installed(root)), _timed(lambda: list_installed(root, thorough=True))
    table.add("look at each (size, mode, time)", f"{quick * 1e3:.0f} ms", f"{quick / PACKS * 1e6:.0f} us a pack")
    table.add("verify each (every byte)", f"{thorough * 1e3:.0f} ms", f"{thorough / PACKS * 1e6:.0f} us a pack")
    home = folder / "home"
    table.add("market list, whole process", f"{_timed(lambda: market(home, 'list', '--root', root.path)):.2f} s")
    seconds = _recovery(root, 1)
    within = seconds < RECOVERY_SECONDS
    table.add("recover from a crash in an upgrade of one", f"{seconds * 1e3:.0f} ms", budget="< 1 s", within=within)
    seconds = _recovery(root, PACKS)
    table.add("recover from a crash in an upgrade of all", f"{seconds:.2f} s", "most of it: deleting the staged trees")
    return table


def _recovery(root: Root, count: int) -> float:
    """Kill an upgrade when its intent counts and nothing is switched yet, and time what the next writer does about it."""
    version = f"2.0.{count}"
    arrivals = [_arrival(number, version) for number in range(count)]
    child = os.fork()
    if child == 0:
        setattr(commit, "finish", lambda *_: os._exit(0))  # noqa: B010 - a crash, put where it is worst
        with lock_root(root) as locked:
            install_packs(locked, arrivals, NOW)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != 0 or not list(root.intents.iterdir()):
        raise RuntimeError("the upgrade wasn't interrupted where it should be")

    def recover() -> None:
        with lock_root(root) as locked:
            if [len(one.names) for one in locked.recovered] != [count]:
                raise RuntimeError(f"recovered {locked.recovered}")

    return _timed(recover)


def _arrival(number: int, version: str) -> Arrival:
    manifest = {
        "name": f"many_{number}",
        "version": version,
        "description": f"Number {number}. Use when something is measured.",
        "entry": "run.sh",
        "class": "safe",
    }
    contents = {
        "skill.json": json.dumps(manifest).encode(),
        "run.sh": b"#!/bin/sh\necho '{}'\n",
        "notes.txt": b"x" * 500,
    }
    archive = io.BytesIO()
    write_archive(MemorySource(contents, executables=frozenset({"run.sh"})), archive)
    return Arrival(verify_archive(archive, Given()), "bench", Origin("archive", f"/{number}.zip"))


def _resolve_table() -> Table:
    """Resolve a graph in which each pack has five releases and requires the next four packs; the documents are in memory."""
    table = Table(f"Resolve {GRAPH_PACKS} packs that require each other")
    documents = {document.name: document for document in map(_graph_document, range(GRAPH_PACKS))}
    question = Question([Wish(parse_requirement("p0"), Prefer.NEWEST)], {}, {})
    picks = resolve(question, documents.__getitem__)
    table.add(
        "whole graph",
        f"{repeat(lambda _: resolve(question, documents.__getitem__), 3).p50:.2f} s",
        f"{len(picks)} packs",
    )
    return table


def _graph_document(number: int) -> PackDocument:
    requires = tuple(f"p{other}>=1" for other in range(number + 1, min(number + 5, GRAPH_PACKS)))
    digest = f"sha256:{'0' * 64}"
    rows = tuple(
        ReleaseSummary(
            f"{version}.0", "live", NOW.isoformat(), digest, ArchiveLink(digest, 10, "x"), "x", requires=requires
        )
        for version in range(GRAPH_VERSIONS, 0, -1)
    )
    return PackDocument(f"p{number}", "acme", "", f"{GRAPH_VERSIONS}.0", NOW.isoformat(), rows)


def _timed(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _run(home: Path, *command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, env=environment(home), stdin=subprocess.DEVNULL)
