"""Mutate archives: nothing crashes, nothing is read as another tree, and what is accepted every other program unpacks alike.

Run through `scripts/fuzz`. The same seed gives the same mutations. A failing archive is kept in `.artefacts/`, with its seed and number.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import random
import resource
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.unpack import unpack
from market.errors import Untrusted
from market.pack.archive_read import read_archive
from market.pack.importer import Imported, import_archive
from market.pack.inspect import Given, inspect_pack
from market.pack.record import Record, make_record
from tests.pack import mutations

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.pack.source import Source

SEEDS = 40
MUTATION_SECONDS = 5.0
PROGRESS_SECONDS = 5.0
TOOL_SECONDS = 30
# What an import changes besides names: with only these the tree is the one that other programs see.
SAME_NAMES = frozenset({"import-form", "import-wrapper", "import-mode"})
Tree = dict[str, bytes]


class Found(Exception):
    """A mutation that shows a fault."""


@dataclass
class Fuzz:
    """One run: its chance, its counts, and the place where accepted archives are unpacked."""

    chance: random.Random
    place: Path
    differential: bool
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Make the archives that mutations start from."""
        self.canonical = [mutations.pack(mutations.a_tree(self.chance)) for _ in range(SEEDS)]
        self.foreign = mutations.foreign_archives()

    def pick(self) -> tuple[bytes, Record | None]:
        """Return the next mutation, and the record that was promised for it where it was made of a canonical archive."""
        if self.chance.random() < 0.3:
            return mutations.mutate(self.chance.choice(self.foreign), self.chance), None
        start, record = self.chance.choice(self.canonical)
        clever = self.chance.random() < 0.04
        return (mutations.rebuild if clever else mutations.mutate)(start, self.chance), record

    def attempt(self, archive: bytes, record: Record | None) -> None:
        """Try one mutation; raises `Found`."""
        started = time.perf_counter()
        try:
            if record is None:
                self._import(archive)
            else:
                self._read(archive, record)
        except Untrusted:
            self.counts["refused"] += 1
        except Found:
            raise
        except Exception as error:
            raise Found(f"{type(error).__name__}: {error}") from error
        if (took := time.perf_counter() - started) > MUTATION_SECONDS:
            raise Found(f"it took {took:.1f} s for {len(archive)} bytes")

    def _read(self, archive: bytes, record: Record) -> None:
        """Read strictly; hold the tree against the record that was promised for the archive before it was changed."""
        source = read_archive(io.BytesIO(archive))
        found = make_record(source)
        self.counts["accepted"] += 1
        if self.differential:
            self._compare(archive, _tree(source), {file.path for file in found.files if file.executable})
            return
        into = self.place / "into"
        into.mkdir()
        descriptor = os.open(into, os.O_RDONLY | os.O_DIRECTORY)
        try:
            unpack(source, record, descriptor)
            self._check_unpacked(into, record)
        except Untrusted:
            self.counts["refused by the record"] += 1
        finally:
            os.close(descriptor)
            shutil.rmtree(into)
            if left := list(self.place.iterdir()):
                raise Found(f"something was written outside: {left}")

    def _check_unpacked(self, into: Path, record: Record) -> None:
        """Demand that what lies there is what was promised, without the code that says so itself."""
        found = {
            str(path.relative_to(into)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.lstat().st_mode)
            for path in into.rglob("*")
            if not path.is_dir()
        }
        wanted = {
            file.path: (file.sha256, stat.S_IFREG | (0o755 if file.executable else 0o644)) for file in record.files
        }
        if found != wanted:
            raise Found("another tree was unpacked under the promised record")
        self.counts["the promised tree"] += 1

    def _import(self, archive: bytes) -> None:
        imported = import_archive(io.BytesIO(archive), io.BytesIO())
        tree = _tree(imported.source)
        inspect_pack(imported.source, Given(name="fuzz", version="1.0"))
        self.counts["imported"] += 1
        if self.differential and {change.rule for change in imported.changes} <= SAME_NAMES:
            self._compare(archive, _wrapped(imported, tree), None)

    def _compare(self, archive: bytes, tree: Tree, executables: set[str] | None) -> None:
        """Demand that every other program unpacks this tree."""
        path = self.place / "archive"
        path.write_bytes(archive)
        is_zip = archive.startswith(b"PK")
        for tool, act in (ZIP_TOOLS if is_zip else TAR_TOOLS).items():
            into = self.place / tool
            into.mkdir()
            act(path, into)
            found = {str(one.relative_to(into)): one.read_bytes() for one in into.rglob("*") if one.is_file()}
            if found != tree:
                odd = sorted(path for path in found.keys() | tree.keys() if found.get(path) != tree.get(path))
                raise Found(f"{tool} unpacks another tree: {odd[:5]}")
            modes = {path for path in found if os.access(into / path, os.X_OK)}
            if executables is not None and tool != "zipfile" and modes != executables:
                raise Found(f"{tool} sets other modes: {modes ^ executables}")
            shutil.rmtree(into)
            self.counts[f"compared with {tool}"] += 1
        path.unlink()


def _tree(source: Source) -> Tree:
    return {file.path: source.read(file.path) for file in source.files()}


def _wrapped(imported: Imported, tree: Tree) -> Tree:
    return {(f"{imported.wrapper}/{path}" if imported.wrapper else path): content for path, content in tree.items()}


def _by_zipfile(path: Path, into: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        archive.extractall(into)


def _by_tarfile(path: Path, into: Path) -> None:
    with tarfile.open(path) as archive:
        archive.extractall(into, filter="data")


def _by(*command: str) -> Callable[[Path, Path], None]:
    def run(path: Path, into: Path) -> None:
        arguments = [part.format(path=path, into=into) for part in command]
        done = subprocess.run(
            arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=TOOL_SECONDS, check=False
        )
        if done.returncode:
            raise Found(f"{command[0]} refuses what we accept: {done.stderr.decode(errors='replace')[:200]}")

    return run


def _present(tools: dict[str, Callable[[Path, Path], None]]) -> dict[str, Callable[[Path, Path], None]]:
    return {tool: act for tool, act in tools.items() if tool in ("zipfile", "tarfile") or shutil.which(tool)}


BSDTAR = _by("bsdtar", "-xf", "{path}", "-C", "{into}")
ZIP_TOOLS = _present({"zipfile": _by_zipfile, "unzip": _by("unzip", "-qq", "{path}", "-d", "{into}"), "bsdtar": BSDTAR})
TAR_TOOLS = _present({"tarfile": _by_tarfile, "tar": _by("tar", "-xf", "{path}", "-C", "{into}"), "bsdtar": BSDTAR})


def fuzz(seed: int, mutations_wanted: int, seconds: float, *, differential: bool) -> int:
    """Mutate until one of the limits is reached; return the exit code."""
    started = said = time.monotonic()
    tried = 0
    with tempfile.TemporaryDirectory(prefix="market-fuzz-") as folder:
        run = Fuzz(random.Random(seed), Path(folder), differential)
        while tried < mutations_wanted and time.monotonic() - started < seconds:
            archive, record = run.pick()
            try:
                run.attempt(archive, record)
            except Found as fault:
                return _report(archive, seed, tried, fault)
            tried += 1
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                print(f"{tried:,} mutations, {said - started:.0f} s, {_counted(run)}", file=sys.stderr, flush=True)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        took = time.monotonic() - started
        print(f"{tried:,} mutations, 0 faults, seed {seed}, {took:.0f} s, peak {memory} MB: {_counted(run)}")
    return 0


def _report(archive: bytes, seed: int, tried: int, fault: Found) -> int:
    """Keep the failing archive, and say how to come back to it."""
    kept = Path(".artefacts", f"fuzz-{seed}-{tried}.bin")
    kept.parent.mkdir(exist_ok=True)
    kept.write_bytes(archive)
    print(f"fault after {tried:,} mutations, seed {seed}: {fault}; the archive is {kept}")
    return 1


def _counted(run: Fuzz) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in sorted(run.counts.items()))


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument(
        "--differential",
        action="store_true",
        help="unpack what is accepted with zipfile, unzip, tarfile, tar and bsdtar",
    )
    parser.add_argument("--mutations", type=int, default=100_000, help="how many [100000]")
    parser.add_argument("--seconds", type=float, default=3600, help="stop after so long [3600]")
    parser.add_argument("--seed", type=int, default=None, help="repeat a run; by default another one each time")
    given = parser.parse_args(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    return fuzz(seed, given.mutations, given.seconds, differential=given.differential)


if __name__ == "__main__":
    raise SystemExit(main())
