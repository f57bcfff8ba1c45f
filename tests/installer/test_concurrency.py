"""Readers, leases, two installers at once, and kill -9 at any moment."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.lease import is_leased, lease_directory
from market.installer.listing import list_installed
from market.installer.root import Root, open_root
from market.installer.transaction import lock_root
from market.installer.tree_state import TreeState, read_unit
from tests.installer.builders import an_arrival, check_at_rest, install, version_of

if TYPE_CHECKING:
    from collections.abc import Callable

UPGRADES = 30
FILES = 12
KILLS = 2
REPOSITORY = Path(__file__).parents[2]

# Every file of one version says the same word, so a mix is seen.
EVEN = an_arrival(version="1.0.0", extra={f"f{number}/part.txt": b"even" for number in range(FILES)})
ODD = an_arrival(version="2.0.0", extra={f"f{number}/part.txt": b"odd!" for number in range(FILES)})


def words_below(descriptor: int) -> set[bytes]:
    words = set()
    for number in range(FILES):
        part = os.open(f"f{number}/part.txt", os.O_RDONLY, dir_fd=descriptor)
        words.add(os.read(part, 10))
        os.close(part)
    return words


def during_upgrades(root: Root, look: Callable[[], None]) -> int:
    """Repeat a look from another thread while upgrades run; returns how often it looked."""
    install(root, EVEN)
    stop, looks, failures = threading.Event(), [0], []

    def keep_looking() -> None:
        try:
            while not stop.is_set():
                look()
                looks[0] += 1
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=keep_looking)
    thread.start()
    try:
        for number in range(UPGRADES):
            install(root, EVEN if number % 2 else ODD)
    finally:
        stop.set()
        thread.join()
    assert failures == []
    return looks[0]


def test_a_reader_with_the_directory_open_sees_one_version(memory_path: Path) -> None:
    root = open_root(memory_path / "root", create=True)

    def look() -> None:
        descriptor = lease_directory(root.tree("echo-args"))
        try:
            assert words_below(descriptor) in ({b"even"}, {b"odd!"})
        finally:
            os.close(descriptor)

    assert during_upgrades(root, look) > 5
    with lock_root(root):
        pass
    check_at_rest(root)


def test_a_reader_sees_the_receipt_of_the_tree_that_stands_there(memory_path: Path) -> None:
    root = open_root(memory_path / "root", create=True)

    def look() -> None:
        with read_unit(root, "echo-args", thorough=True) as reading:
            assert reading.state is TreeState.INTACT
            assert reading.receipt is not None
            assert reading.folder is not None
            assert reading.folder.source.read("notes/version.txt").decode() == reading.receipt.version.text

    assert during_upgrades(root, look) > 5


def test_a_leased_tree_stays_until_its_reader_is_done(root: Root) -> None:
    install(root, EVEN)
    lease = lease_directory(root.tree("echo-args"))
    assert is_leased(root.tree("echo-args"))
    install(root, ODD)
    assert words_below(lease) == {b"even"}
    check_at_rest(root, leased=1)
    install(root, EVEN)
    assert words_below(lease) == {b"even"}
    os.close(lease)
    assert not is_leased(root.tree("echo-args"))
    with lock_root(root):
        pass
    check_at_rest(root)


def _install_many(path: str, names: list[str]) -> None:
    for name in names:
        install(open_root(Path(path), create=False), an_arrival(name))


def test_two_installers_at_once_lose_nothing(memory_path: Path) -> None:
    root = open_root(memory_path / "root", create=True)
    names = [f"pack-{number}" for number in range(20)]
    context = multiprocessing.get_context("fork")
    processes = [
        context.Process(target=_install_many, args=(str(root.path), half)) for half in (names[::2], names[1::2])
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert [one.name for one in list_installed(root)] == sorted(names)
    check_at_rest(root)


INSTALL_FOR_EVER = """
import sys
from pathlib import Path
from market.installer.root import open_root
from tests.installer.builders import an_arrival, install
root = open_root(Path(sys.argv[1]), create=True)
packs = [[an_arrival(name, version) for name in ("a-pack", "b-pack")] for version in ("1.0.0", "2.0.0")]
print("ready", flush=True)
while True:
    for pair in packs:
        install(root, *pair)
"""


def test_kill_minus_nine_at_any_moment_leaves_one_version_of_all(root: Root) -> None:
    chance = random.Random(20260102)
    for _ in range(KILLS):
        command = [sys.executable, "-c", INSTALL_FOR_EVER, str(root.path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.uniform(0.0, 0.05))
            process.send_signal(signal.SIGKILL)
        with lock_root(root, timeout_seconds=5):
            pass
        assert version_of(root, "a-pack") == version_of(root, "b-pack")
        check_at_rest(root)
