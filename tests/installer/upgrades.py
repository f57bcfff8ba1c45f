"""A thousand upgrades, and two readers in tight loops: one that holds the directory, one that goes by path names. Both count."""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.lease import lease_directory
from market.installer.root import Root, open_root
from tests.installer.builders import an_arrival, install

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.synchronize import Event
    from pathlib import Path

FILES = 12
NAME = "echo-args"


@dataclass(frozen=True)
class Seen:
    """How often a reader looked, how often it saw files of two versions, and how often it found no pack."""

    looks: int
    mixed: int
    missing: int


def upgrade_under_readers(folder: Path, upgrades: int) -> dict[str, Seen]:
    """Upgrade to and fro so many times while both readers look, each in a process of its own."""
    root = open_root(folder / "root", create=True)
    # Every file of one version says the same word, so a mix is seen.
    packs = [
        an_arrival(version=version, extra={f"f{number}/part.txt": word for number in range(FILES)})
        for version, word in (("1.0.0", b"even"), ("2.0.0", b"odd!"))
    ]
    install(root, packs[0])
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    readers = {}
    for name, look in (("by descriptor", _look_by_descriptor), ("by path", _look_by_path)):
        ours, theirs = context.Pipe()
        process = context.Process(target=_read, args=(root, look, stop, theirs))
        process.start()
        readers[name] = process, ours
    try:
        for number in range(upgrades):
            install(root, packs[(number + 1) % 2])
    finally:
        stop.set()
    return {name: _finish(process, ours) for name, (process, ours) in readers.items()}


def _finish(process: multiprocessing.process.BaseProcess, ours: Connection) -> Seen:
    seen: Seen = ours.recv()
    process.join(10)
    return seen


def _read(root: Root, look: Callable[[Root], set[bytes] | None], stop: Event, out: Connection) -> None:
    looks = mixed = missing = 0
    while not stop.is_set():
        words = look(root)
        looks += 1
        missing += words is None
        mixed += words is not None and len(words) != 1
    out.send(Seen(looks, mixed, missing))


def _look_by_descriptor(root: Root) -> set[bytes] | None:
    descriptor = lease_directory(root.tree(NAME))
    try:
        return {_word(f"f{number}/part.txt", descriptor) for number in range(FILES)}
    finally:
        os.close(descriptor)


def _look_by_path(root: Root) -> set[bytes] | None:
    """The pack must be there at every look; its files may come from two versions, which is why the host holds the directory."""
    if not os.path.isdir(root.tree(NAME)):
        return None
    words = set()
    for number in range(FILES):
        try:
            words.add(_word(f"{root.tree(NAME)}/f{number}/part.txt", None))
        except FileNotFoundError:
            # It was on its way through the old directory when that was deleted.
            words.add(b"gone")
    return words


def _word(path: str, directory: int | None) -> bytes:
    part = os.open(path, os.O_RDONLY, dir_fd=directory)
    try:
        return os.read(part, 10)
    finally:
        os.close(part)
