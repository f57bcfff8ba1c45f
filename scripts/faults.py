"""Break everything that can break under a transaction, and look at what is left.

Default: about 300 system calls of install, upgrade, rollback, uninstall, collection and recovery itself, failing or killed one by
one through `strace -e inject`; then upgrades on a disk that is full at every step. `--processes` adds a crowd of killed processes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from market.errors import MarketError
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root
from tests.installer.builders import an_arrival, check_at_rest, install, version_of
from tests.installer.crowd import run_crowd
from tests.installer.strace_faults import choose_points, prepared_faults, why_not

DEFAULT_POINTS = 300
WORKERS = max(2, os.cpu_count() or 1)
CROWD = 8
FULL_DISK_BYTES = 600_000
FULL_DISK_STEP_BYTES = 4096
FULL_DISK_STEPS = 40


def main() -> int:
    """Run what is asked for and return 1 where anything was lost, torn or left behind."""
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__)
    parser.add_argument("--points", type=int, default=DEFAULT_POINTS, metavar="N", help="how many points [300]")
    parser.add_argument("--all", action="store_true", help="every point, more than a thousand")
    parser.add_argument("--processes", type=float, default=0.0, metavar="SECONDS", help="eight processes, kill -9")
    chosen = parser.parse_args()
    bad = sweep_calls(sys.maxsize if chosen.all else chosen.points) + fill_disks()
    if chosen.processes:
        bad += run_processes(chosen.processes)
    for sentence in bad:
        print("BAD", " ".join(sentence.split()))
    return 1 if bad else 0


def sweep_calls(count: int) -> list[str]:
    """Let system calls fail, and return what is wrong."""
    why = why_not()
    if why:
        return [] if say(f"no call was made to fail: {why}") and os.environ.get("CI") != "true" else [why]
    started = time.monotonic()
    with prepared_faults() as faults:
        points = choose_points(faults.list_points(), count)
        scenes = Counter(point.scene.name for point in points)
        say(f"{len(points)} points: {', '.join(f'{number} {name}' for name, number in scenes.items())}")
        tally = faults.run(points, WORKERS)
    say(f"{tally} in {time.monotonic() - started:.0f} s")
    return tally.bad


def fill_disks() -> list[str]:
    """Upgrade on a disk in memory that has a little less room each time: every write is once the one that doesn't fit."""
    bad, full = [], 0
    with tempfile.TemporaryDirectory() as place:
        small = Path(place) / "small"
        small.mkdir()
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={FULL_DISK_BYTES}", "none", str(small)],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            say(f"no disk was filled: {made.stderr.strip()}")
            return []
        try:
            root = open_root(small / "root", create=True)
            for step in range(FULL_DISK_STEPS):
                outcome = _upgrade_with_room(root, step * FULL_DISK_STEP_BYTES)
                full += outcome == "full"
                bad += (
                    [f"with {step * FULL_DISK_STEP_BYTES} bytes of room: {outcome}"]
                    if outcome not in ("full", "")
                    else []
                )
        finally:
            subprocess.run(["umount", "--lazy", str(small)], check=True)
    say(f"{FULL_DISK_STEPS} upgrades on a filling disk, {full} of them had no room, {len(bad)} went wrong")
    return bad


def _upgrade_with_room(root: Root, room: int) -> str:
    """Return `full` where the upgrade said so, empty where it fitted, else what is wrong."""
    install(root, an_arrival("first"), an_arrival("second"), overwrite_edits=True)
    ballast = root.path.parent / "ballast"
    free = os.statvfs(root.path)
    ballast.write_bytes(b"\0" * max(0, free.f_bavail * free.f_frsize - room))
    try:
        install(root, an_arrival("first", "2.0.0"), an_arrival("second", "2.0.0"), overwrite_edits=True)
        outcome, version = "", "2.0.0"
    except MarketError as error:
        outcome, version = ("full" if "full" in error.why else str(error)), "1.0.0"
    found = [version_of(root, name) for name in ("first", "second")]
    try:
        with lock_root(root):
            pass
        check_at_rest(root)
    except (AssertionError, MarketError) as error:
        return f"it isn't at rest: {error}"
    finally:
        ballast.unlink()
    return outcome if found == [version, version] else f"it said {outcome!r}, and there is {found}"


def run_processes(seconds: float) -> list[str]:
    """Let a crowd of processes change one root while they are killed, and return what was lost or torn."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as place:
        crowd = run_crowd(Path(place), CROWD, seconds)
    say(f"{CROWD} processes for {seconds:g} s: {crowd}")
    return crowd.bad


def say(text: str) -> bool:
    """Print at once, and be true."""
    print(text, flush=True)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
