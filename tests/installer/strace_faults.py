"""Every system call that changes a root fails (ENOSPC, EIO) or is the last thing its process does (KILL), by `strace -e inject`.

A point is one call of one piece of work with one fault. Whatever happens there: the root holds wholly the old or wholly the new
state, the next command settles it and leaves nothing behind, every receipt is true of its tree, and `market verify` ends with 0.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from market.installer.archives import is_kept
from market.installer.doctor import NOTE, examine_root
from market.installer.receipt import load_receipts
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root
from tests.installer.builders import check_at_rest, version_of
from tests.installer.strace_driver import collect, prepare, upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

REPOSITORY = Path(__file__).parents[2]
SYSCALLS = (
    "mkdir", "mkdirat", "openat", "write", "pwrite64", "ftruncate", "fsync", "fdatasync", "syncfs", "rename", "renameat",
    "renameat2", "unlink", "unlinkat", "rmdir", "link", "linkat", "fchmod", "chmod", "utimensat", "flock",
)  # fmt: skip
FAULTS = ("signal=KILL", "error=ENOSPC", "error=EIO")
# flock fails in no way that a disk can cause, but a process may die there.
ONLY_DEADLY = frozenset({"flock"})
NAMES = ("first", "second", "third")
STOP_SECONDS = 60

Versions = tuple[str | None, ...]
OLD: Versions = ("1.0.0", "1.0.0", None)
UPGRADED: Versions = ("2.0.0", "2.0.0", "1.0.0")


@dataclass(frozen=True)
class Scene:
    """A piece of work from a prepared state, and what stands there before and after it."""

    name: str
    state: str
    work: str
    before: Versions
    after: Versions


SCENES = (
    Scene("install", "old", "install", OLD, ("1.0.0", "1.0.0", "1.0.0")),
    Scene("upgrade", "old", "upgrade", OLD, UPGRADED),
    Scene("rollback", "upgraded", "rollback", UPGRADED, ("1.0.0", "1.0.0", "1.0.0")),
    Scene("uninstall", "upgraded", "uninstall", UPGRADED, (None, None, "1.0.0")),
    Scene("collect", "dirty", "collect", UPGRADED, UPGRADED),
    Scene("recover-back", "intended", "collect", OLD, OLD),
    Scene("recover-forward", "switched", "collect", UPGRADED, UPGRADED),
)


@dataclass(frozen=True)
class Point:
    """The n-th call of a name in a scene, and what happens there."""

    scene: Scene
    call: str
    number: int
    fault: str

    def __str__(self) -> str:
        return f"{self.scene.name} {self.call}#{self.number} {self.fault}"


@dataclass
class Tally:
    """What came of a sweep. `bad` are sentences, `missed` points that the run didn't reach."""

    good: Counter[str]
    bad: list[str]
    missed: list[Point]

    def __str__(self) -> str:
        by_fault = ", ".join(f"{count} {fault}" for fault, count in sorted(self.good.items()))
        return f"{self.good.total()} faults survived ({by_fault}), {len(self.bad)} not, {len(self.missed)} not reached"


def why_not() -> str:
    """Say why nothing can be injected here; empty where it can."""
    if shutil.which("strace") is None:
        return "strace is not on this machine"
    tried = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    return f"strace can't trace here: {tried.stderr.strip()}" if tried.returncode else ""


class Faults:
    """Prepared states in a folder in memory, and what is done to copies of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.states = folder / "states"
        old = open_root(self.states / "old", create=True)
        prepare(old)
        upgraded = Root(self.states / "upgraded")
        copy_root(old.path, upgraded.path)
        upgrade(upgraded)
        self._interrupt("intended", 1)
        self._interrupt("switched", 2)
        dirty = Root(self.states / "dirty")
        copy_root(upgraded.path, dirty.path)
        _make_dirty(dirty)

    def list_points(self) -> list[Point]:
        """Return every point of every scene, in the order in which the calls come."""
        return [point for scene in SCENES for point in self._list(scene)]

    def run(self, points: Sequence[Point], workers: int) -> Tally:
        """Let each point happen, and look."""
        tally = Tally(Counter(), [], [])
        with ThreadPoolExecutor(workers) as pool:
            for point, outcome in zip(points, pool.map(self._run, points), strict=True):
                if outcome is None:
                    tally.missed.append(point)
                elif outcome:
                    tally.bad.append(f"{point}: {outcome}")
                else:
                    tally.good[point.fault] += 1
        return tally

    def _list(self, scene: Scene) -> Iterator[Point]:
        with self._copy(scene.state) as root:
            log = root.path.parent / "calls"
            _trace(scene.work, root, log, [])
            counts: Counter[str] = Counter()
            for line in log.read_text().splitlines():
                if (found := re.match(r"\d+ +(\w+)\(", line)) is None:
                    continue
                call = found[1]
                counts[call] += 1
                if str(root.path) in line and (call != "openat" or "O_CREAT" in line):
                    for fault in FAULTS if call not in ONLY_DEADLY else FAULTS[:1]:
                        yield Point(scene, call, counts[call], fault)

    def _run(self, point: Point) -> str | None:
        """Return what is wrong afterwards, empty where nothing is, or None where the point was not reached."""
        with self._copy(point.scene.state) as root:
            log = root.path.parent / "calls"
            inject = ["-e", f"inject={point.call}:{point.fault}:when={point.number}"]
            ended = _trace(point.scene.work, root, log, inject)
            if "INJECTED" not in log.read_text() and ended.returncode >= 0:
                return None
            try:
                _look(root, point, ended)
            except Exception as error:  # whatever is wrong, it is what the sweep looks for
                return f"{type(error).__name__}: {error}; the work ended with {ended.returncode}: {ended.stderr[-400:]}"
        return ""

    @contextmanager
    def _copy(self, state: str) -> Iterator[Root]:
        place = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            copy_root(self.states / state, place / "root")
            yield Root(place / "root")
        finally:
            shutil.rmtree(place)

    def _interrupt(self, name: str, at: int) -> None:
        """Make a state in which an upgrade died at its n-th exchange: its intent is in force."""
        root = Root(self.states / name)
        copy_root(self.states / "old", root.path)
        kill = ["-e", f"inject=renameat2:signal=KILL:when={at}"]
        _trace("upgrade", root, self.folder / "calls", kill)
        assert len(list(root.intents.iterdir())) == 1
        assert [version_of(root, one) for one in NAMES].count("2.0.0") == at - 1


def choose_points(points: Sequence[Point], count: int) -> list[Point]:
    """Return about `count` points, spread evenly over all scenes, calls and faults."""
    if count >= len(points):
        return list(points)
    ordered = sorted(points, key=lambda one: (one.fault, one.scene.name, one.call, one.number))
    return [ordered[number * len(ordered) // count] for number in range(count)]


def copy_root(source: Path, target: Path) -> None:
    """Copy a root so that its intents speak of the copy: every (dev, ino) in them is replaced by that of the copied directory."""
    shutil.copytree(source, target, symlinks=True)
    moved = {_identity(path): _identity(target / path.relative_to(source)) for path in [source, *source.rglob("*")]}

    def replace(value: object) -> object:
        if isinstance(value, dict):
            return {key: replace(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return list(moved.get(tuple(value), value)) if _is_pair(value) else [replace(inner) for inner in value]
        return value

    for path in (target / ".market" / "intents").glob("*.json"):
        path.write_text(json.dumps(replace(json.loads(path.read_text()))))


def _is_pair(value: list[object]) -> bool:
    return len(value) == 2 and all(isinstance(one, int) for one in value)


def _identity(path: Path) -> tuple[int, int]:
    status = path.lstat()
    return status.st_dev, status.st_ino


def _trace(work: str, root: Root, log: Path, inject: list[str]) -> subprocess.CompletedProcess[str]:
    calls = ",".join(f"?{call}" for call in SYSCALLS)
    command = ["strace", "-f", "-qq", "-y", "-s", "16", "-o", str(log), "-e", f"trace={calls}", *inject]
    driver = [sys.executable, "-B", "-m", "tests.installer.strace_driver", work, str(root.path)]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(
        [*command, *driver],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        env=environment,
        timeout=STOP_SECONDS,
        check=False,
    )


def _look(root: Root, point: Point, ended: subprocess.CompletedProcess[str]) -> None:
    scene = point.scene
    for name, old, new, found in zip(NAMES, scene.before, scene.after, _versions(root), strict=True):
        if scene.name != "recover-forward":
            assert found in (old, new), f"before the recovery {name} is {found}"
    with lock_root(root, timeout_seconds=5) as locked:
        assert all(not one.left for one in locked.recovered)
    versions = _versions(root)
    assert versions in (scene.before, scene.after), f"after the recovery there is {versions}"
    if point.fault != FAULTS[0] and scene.before != scene.after:
        assert (ended.returncode == 0) == (versions == scene.after), (
            f"it said {ended.returncode}, and there is {versions}"
        )
    if scene.work == "collect":
        collect(root)
    check_at_rest(root)
    named = [
        digest
        for one in load_receipts(root)
        for digest in (one.archive_digest, *(row.archive_digest for row in one.earlier))
    ]
    assert all(is_kept(root, digest) for digest in named), "an archive that a receipt names isn't kept"
    odd = [finding for finding in examine_root(root) if finding.severity != NOTE]
    assert odd == [], odd


def _versions(root: Root) -> Versions:
    return tuple(version_of(root, name) for name in NAMES)


def _make_dirty(root: Root) -> None:
    """Leave what crashes leave: an orphaned stage, a retired tree, an archive that nobody names, half a file."""
    shutil.copytree(root.tree("first"), root.staging / "0123456789abcdef" / "first")
    shutil.copytree(root.tree("second"), root.retired / "0123456789abcdef-second")
    (root.archives / f"{'0' * 64}.zip").write_bytes(b"PK")
    (root.receipts / ".first.json.0123").write_text("{")


@contextmanager
def prepared_faults() -> Iterator[Faults]:
    """Prepare in memory, where there is such a place."""
    folder = Path(tempfile.mkdtemp(prefix="market-faults-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        yield Faults(folder)
    finally:
        shutil.rmtree(folder)
