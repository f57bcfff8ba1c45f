"""Manifests and archives: parsing ten thousand of each, packing and unpacking, and the memory of a large archive, each beside a peer."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml

from benchmarks.measure import Table, repeat
from market.disk.foreign import import_file
from market.disk.unpack import unpack
from market.disk.walk import open_folder
from market.pack.build import archive_pack
from market.pack.front_matter import parse_front_matter
from market.pack.inspect import Given
from market.pack.skill_json import parse_skill_json
from market.trust.verify import verify_archive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")

MANIFESTS = 10_000
WARM_ITEMS = 20
FILES, FILE_BYTES = 200, 25_000
ROUNDS = 9
LARGE_FILE_BYTES = 48 << 20
# What may be held of a large archive: the pieces in which it is read, hashed and written.
MEMORY_LIMIT_MEGABYTES = 24
UNZIP_LIMIT = 1.5
# Not budgets of the design, but what was measured with room: a second parse or a lost cache shows here.
FRONT_MATTER_LIMIT, SKILL_JSON_LIMIT, ZIP_LIMIT = 2.0, 6.0, 3.0


def tables() -> Iterator[Table]:
    """Measure and yield one table at a time."""
    with tempfile.TemporaryDirectory(prefix="market-bench-packs-") as folder:
        yield _front_matter_table(Path(folder, "guides"))
        yield _skill_json_table(Path(folder, "commands"))
        yield from _archive_tables(Path(folder))
        yield _memory_table(Path(folder))


def _front_matter_table(folder: Path) -> Table:
    table = Table(f"Parse {MANIFESTS:,} front matters (processor time)")
    paths = _write_many(folder, "SKILL.md", _guide)
    contents = [path.read_bytes() for path in paths]
    texts = [content.split(b"---\n")[1] for content in contents]
    reading = _processor(lambda path: path.read_bytes(), paths)
    loading = _processor(lambda text: yaml.load(text, yaml.CSafeLoader), texts)
    own = _processor(lambda content: parse_front_matter(content, "SKILL.md"), contents)
    _parse_rows(table, own, reading, (loading, "the C loader alone", FRONT_MATTER_LIMIT))
    return table


def _skill_json_table(folder: Path) -> Table:
    table = Table(f"Read and validate {MANIFESTS:,} skill.json (processor time)")
    paths = _write_many(folder, "skill.json", _command)
    contents = [path.read_bytes() for path in paths]
    reading = _processor(lambda path: path.read_bytes(), paths)
    loading = _processor(json.loads, contents)
    own = _processor(lambda content: parse_skill_json(content, "skill.json"), contents)
    _parse_rows(table, own, reading, (loading, "the C parser alone", SKILL_JSON_LIMIT))
    return table


def _parse_rows(table: Table, own: float, reading: float, loader: tuple[float, str, float]) -> None:
    seconds, name, limit = loader
    table.ratio("each", own / MANIFESTS, seconds / MANIFESTS, name, limit, unit="us")
    table.add("", "", f"reading the bytes {reading / MANIFESTS * 1e6:.2f} us: {own / reading:.2f}x")


def _write_many(folder: Path, name: str, content: Callable[[int], bytes]) -> list[Path]:
    paths = [folder / str(number) / name for number in range(MANIFESTS)]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True)
        path.write_bytes(content(number))
    return paths


def _guide(number: int) -> bytes:
    lines = (
        "---",
        f"name: guide-{number}",
        f"description: Does thing number {number}. Use when it is asked for, or when a file of it is seen.",
        "license: MIT",
        "metadata:",
        f'  version: "1.{number}.0"',
        "  author: somebody",
        "  requires:\n    bins: [git, curl]\n    env: [TOKEN]",
        "---",
        f"\n# Guide\n\n{'Words of the guide. ' * 60}\n",
    )
    return "\n".join(lines).encode()


def _command(number: int) -> bytes:
    # Every schema is another one, so that no cache of checked schemas helps.
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": f"Where {number} is."},
            "count": {"type": "integer", "minimum": 0, "maximum": number + 1},
            "dry_run": {"type": "boolean", "default": True},
        },
        "required": ["path"],
    }
    fields = {
        "name": f"command_{number}",
        "version": "1.0.0",
        "description": f"Does thing number {number}. Use when it is asked for.",
        "class": "safe",
        "entry": "run.sh",
        "env_allow": ["PATH", "HOME"],
        "timeout_seconds": 60,
        "category": "ops",
        "schema": schema,
    }
    return json.dumps(fields, indent=2).encode()


def _processor(act: Callable[[T], object], items: Sequence[T]) -> float:
    """Return the processor seconds of an act on every item; what a cache keeps of earlier items helps none of these."""
    for item in items[:WARM_ITEMS]:
        act(item)
    started = time.process_time()
    for item in items[WARM_ITEMS:]:
        act(item)
    return max(time.process_time() - started, 1e-9) * len(items) / (len(items) - WARM_ITEMS)


def _archive_tables(folder: Path) -> Iterator[Table]:
    pack = _write_pack(folder / "pack", [FILE_BYTES] * FILES)
    archive = folder / "pack.zip"
    yield _pack_table(folder, pack, archive)
    yield _unpack_table(folder, pack, archive)


def _pack_table(folder: Path, pack: Path, archive: Path) -> Table:
    table = Table(f"Archive {FILES} files, {FILES * FILE_BYTES / 1e6:.0f} MB")

    def own(_: int) -> None:
        with open_folder(pack) as opened, archive.open("wb") as out:
            archive_pack(opened.source, Given(), out)

    made = repeat(own, ROUNDS)
    for name, options in (("zip -0", ["-0"]), ("zip", [])):
        if shutil.which("zip") is None:
            table.add("archive, walk to digest", f"{made.p50 * 1e3:.1f} ms", "zip is not on this machine")
            break

        def peer(number: int, options: Sequence[str] = options, name: str = name) -> None:
            target = folder / f"{name.replace(' ', '')}-{number}.zip"
            subprocess.run(["zip", "-q", "-r", *options, str(target), "."], cwd=pack, check=True)

        theirs = repeat(peer, ROUNDS)
        table.ratio("archive, walk to digest", made.p50, theirs.p50, f"{name}, whole process", ZIP_LIMIT)
    return table


def _unpack_table(folder: Path, pack: Path, archive: Path) -> Table:
    table = Table(f"Unpack {FILES} files, {FILES * FILE_BYTES / 1e6:.0f} MB")
    places = iter(folder / f"out-{number}" for number in range(10_000))

    def unzip(_: int) -> None:
        subprocess.run(["unzip", "-q", str(archive), "-d", str(next(places))], check=True)

    def own(_: int) -> None:
        _unpack(archive, next(places))

    # Turn by turn, so that what else the machine does meets both.
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs.append(repeat(unzip, 1).p50)
        ours.append(repeat(own, 1).p50)
    ours_p50, theirs_p50 = sorted(ours)[ROUNDS // 2], sorted(theirs)[ROUNDS // 2]
    table.ratio("verify, unpack, read back", ours_p50, theirs_p50, "unzip, whole process", UNZIP_LIMIT)
    if importlib.util.find_spec("installer") is None:
        table.add("the same as a wheel", "", "the package `installer` is not here")
        return table
    wheel = _write_wheel(folder, pack)
    peer = repeat(lambda _: _install_wheel(wheel, next(places)), ROUNDS)
    table.add(
        "the same as a wheel",
        f"{ours_p50 * 1e3:.1f} ms",
        f"installer {peer.p50 * 1e3:.1f} ms: {ours_p50 / peer.p50:.2f}x",
    )
    return table


def _unpack(archive: Path, into: Path) -> None:
    into.mkdir()
    descriptor = os.open(into, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with archive.open("rb") as stream:
            verified = verify_archive(stream, Given(version="1.0.0"))
            unpack(verified.source, verified.record, descriptor)
    finally:
        os.close(descriptor)


def _write_wheel(folder: Path, pack: Path) -> Path:
    """Write the pack's files as a wheel, stored, with its record."""
    wheel = folder / "bench_pack-1.0.0-py3-none-any.whl"
    files = {f"bench_pack/{path.relative_to(pack)}": path.read_bytes() for path in pack.rglob("*") if path.is_file()}
    info = "bench_pack-1.0.0.dist-info"
    files[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: bench-pack\nVersion: 1.0.0\n"
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: bench\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = io.StringIO()
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        csv.writer(rows).writerow([name, f"sha256={digest}", len(content)])
    csv.writer(rows).writerow([f"{info}/RECORD", "", ""])
    with zipfile.ZipFile(wheel, "w") as out:
        for name, content in {**files, f"{info}/RECORD": rows.getvalue().encode()}.items():
            out.writestr(name, content)
    return wheel


def _install_wheel(wheel: Path, into: Path) -> None:
    installer = importlib.import_module("installer")
    destinations = importlib.import_module("installer.destinations")
    sources = importlib.import_module("installer.sources")
    scheme = {key: str(into) for key in ("purelib", "platlib", "headers", "scripts", "data")}
    destination = destinations.SchemeDictionaryDestination(scheme, interpreter=sys.executable, script_kind="posix")
    with sources.WheelFile.open(wheel) as source:
        source.validate_record()
        installer.install(source=source, destination=destination, additional_metadata={})


def _memory_table(folder: Path) -> Table:
    table = Table("Memory of a large archive (peak above the idle process, in a process of its own)")
    archive = folder / "large.zip"
    with open_folder(_write_pack(folder / "large", [LARGE_FILE_BYTES, 1 << 20])) as opened, archive.open("wb") as out:
        archive_pack(opened.source, Given(), out)
    size = archive.stat().st_size / 1e6
    unpacked = _peak_megabytes("unpack", archive, folder / "large-out")
    budget = f"<= {MEMORY_LIMIT_MEGABYTES} MB"
    table.add(
        f"verify and unpack {size:.0f} MB",
        f"{unpacked:.1f} MB",
        budget=budget,
        within=unpacked <= MEMORY_LIMIT_MEGABYTES,
    )
    foreign = folder / "foreign.zip"
    with zipfile.ZipFile(foreign, "w", zipfile.ZIP_DEFLATED) as target, zipfile.ZipFile(archive) as source:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    imported = _peak_megabytes("import", foreign, folder / "import-out")
    table.add(f"import {size:.0f} MB, deflated", f"{imported:.1f} MB", "a file is inflated whole, at most 50 MiB")
    return table


def _peak_megabytes(act: str, archive: Path, into: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.packs", act, str(archive), str(into)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _write_pack(folder: Path, sizes: Sequence[int]) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(_guide(1))
    chance = random.Random(1)
    for number, size in enumerate(sizes):
        path = folder / f"part-{number % 10}" / f"file-{number}.bin"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(chance.randbytes(size))
    return folder


def main(act: str, archive: str, into: str) -> None:
    """Do one act and print by how many MB the process grew."""
    before = _status_megabytes("VmRSS")
    if act == "unpack":
        _unpack(Path(archive), Path(into))
    else:
        with Path(archive).open("rb") as stream, import_file(stream, Given(version="1.0.0")):
            pass
    print(_status_megabytes("VmHWM") - before)


def _status_megabytes(key: str) -> float:
    """Return a line of this process's status. Not `getrusage`: its peak is taken over from the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) * 1024 / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
