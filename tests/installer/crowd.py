"""Many processes that change one root at once, and are killed at any moment. What they claim to have done must be there.

Each worker owns a pair of packs that always change together, and all of them fight over a common one. A worker writes into its
ledger what it is about to do, and when it is done; after a kill the last line says which two states there may be.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.lease import lease_directory
from market.errors import MarketError, NotFound
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root, uninstall_packs
from tests.installer.builders import NOW, an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).parents[2]
COMMON = ("common-a", "common-b")
VERSIONS = ("1.0.0", "2.0.0", "3.0.0")
GONE = "-"
LOCK_SECONDS = 60.0
PAUSE_SECONDS = (0.02, 0.25)


@dataclass
class Crowd:
    """What came of it. `claims` counts the finished changes, `kills` the killed workers, `looks` what readers saw meanwhile."""

    claims: int = 0
    kills: int = 0
    looks: int = 0
    bad: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.claims} changes, {self.kills} kills, {self.looks} looks: {len(self.bad)} lost or torn"


def run_crowd(folder: Path, workers: int, seconds: float, seed: int = 20260102) -> Crowd:
    """Let workers change a root below a folder for some seconds, killing one now and then, and look at what is left."""
    root = open_root(folder / "root", create=True)
    chance, crowd = random.Random(seed), Crowd()
    running = {number: _start(folder, number, 0) for number in range(workers)}
    end, life = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        pause = time.monotonic() + chance.uniform(*PAUSE_SECONDS)
        while time.monotonic() < pause:
            crowd.looks += 1
            crowd.bad += _look(root)
        number = chance.randrange(workers)
        if running[number].poll() is not None:
            crowd.bad.append(f"worker {number} ended by itself: {(folder / f'errors-{number}').read_text()[-400:]}")
        running[number].send_signal(signal.SIGKILL)
        running[number].wait()
        crowd.kills += 1
        life += 1
        running[number] = _start(folder, number, life)
    for process in running.values():
        process.send_signal(signal.SIGKILL)
        process.wait()
    crowd.kills += workers
    with lock_root(root, timeout_seconds=5):
        pass
    for number in range(workers):
        crowd.bad += _check_ledger(root, folder, number, crowd)
    if version_of(root, COMMON[0]) != version_of(root, COMMON[1]):
        crowd.bad.append("the common packs are of two versions")
    check_at_rest(root)
    return crowd


def work(folder: Path, number: int, life: int) -> None:
    """Be one worker, for ever."""
    root, ledger = open_root(folder / "root", create=False), folder / f"ledger-{number}"
    chance = random.Random(number * 1_000_003 + life)
    own = (f"own-a{number}", f"own-b{number}")
    packs = {(name, version): an_arrival(name, version) for name in (*own, *COMMON) for version in VERSIONS}
    with ledger.open("a", buffering=1) as out:
        while True:
            version = chance.choice((*VERSIONS, GONE))
            out.write(f"begin {version}\n")
            if version == GONE:
                _remove(root, own)
            else:
                install(root, *(packs[name, version] for name in own), timeout_seconds=LOCK_SECONDS)
            out.write(f"done {version}\n")
            common = chance.choice(VERSIONS)
            install(root, *(packs[name, common] for name in COMMON), timeout_seconds=LOCK_SECONDS)


def _remove(root: Root, names: Sequence[str]) -> None:
    with lock_root(root, timeout_seconds=LOCK_SECONDS) as locked:
        try:
            uninstall_packs(locked, names, NOW)
        except NotFound:  # not there: that is what was wanted
            return


def _start(folder: Path, number: int, life: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-B", "-m", "tests.installer.crowd", str(folder), str(number), str(life)]
    with (folder / f"errors-{number}").open("w") as errors:
        return subprocess.Popen(command, cwd=REPOSITORY, stderr=errors)


def _look(root: Root) -> list[str]:
    """Hold a common pack's directory, and see one version in it."""
    try:
        descriptor = lease_directory(root.tree(COMMON[0]))
    except NotFound:  # not yet installed for the first time
        return []
    except MarketError as error:
        return [f"a reader was refused: {error.message}"]
    try:
        part = os.open("notes/version.txt", os.O_RDONLY, dir_fd=descriptor)
        found = os.read(part, 20).decode()
        os.close(part)
        return [] if found in VERSIONS else [f"a reader saw the version {found!r}"]
    finally:
        os.close(descriptor)


def _check_ledger(root: Root, folder: Path, number: int, crowd: Crowd) -> list[str]:
    lines = (folder / f"ledger-{number}").read_text().splitlines() if (folder / f"ledger-{number}").exists() else []
    done = [line.split()[1] for line in lines if line.startswith("done ")]
    crowd.claims += len(done)
    allowed = _allowed(lines)
    found = {version_of(root, f"own-{letter}{number}") or GONE for letter in "ab"}
    if len(found) != 1 or not found <= allowed:
        return [f"worker {number}: there is {sorted(found)}, and its ledger allows {sorted(allowed)}"]
    return []


def _allowed(lines: Sequence[str]) -> set[str]:
    """Return the states that a ledger leaves open: after an unfinished change the one before it too, across several lives."""
    allowed = {GONE}
    for line in lines:
        word, _, version = line.partition(" ")
        allowed = {version} if word == "done" else allowed | {version}
    return allowed


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
