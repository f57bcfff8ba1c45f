"""Wheel packs on disk as an install leaves them, with their skills found by the real loader."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from market.registry.loader import Loader
from market.registry.unit import UnitId
from tests.registry.trees import write_tree
from tests.wheels import ECHO, code_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from market.registry.live import LiveSkill


def a_python_pack(root: Path, code: str = ECHO, *, folder: str = "demo-pack", **options: Any) -> LiveSkill:
    """The skill of a wheel with one python skill, unpacked below a root; `options` are those of `tests.wheels.code_files`."""
    write_tree(root / folder, code_files(code, **options))
    return find_skill(root, folder, options.get("skill", "echo_py"))


def find_skill(root: Path, folder: str, key: str) -> LiveSkill:
    unit = Loader().load(UnitId(str(root), folder))
    assert unit is not None
    assert not unit.dropped, unit.dropped
    return next(skill for skill in unit.skills if skill.key == key)


def descendants(pid: int) -> list[int]:
    """Every process below one, by the process table."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = list(children.get(pid, ()))
    for one in found:
        found.extend(children.get(one, ()))
    return found


def processes_in(tree: Path) -> list[int]:
    """Every process that has a directory open that is, or was, this tree, or works in it."""
    status = tree.stat()
    wanted = (status.st_dev, status.st_ino)
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and int(entry.name) != os.getpid() and _holds(entry, wanted)
    ]


def _holds(entry: Path, wanted: tuple[int, int]) -> bool:
    try:
        links = [entry / "cwd", *(entry / "fd").iterdir()]
        return any((status.st_dev, status.st_ino) == wanted for status in map(os.stat, links))
    except OSError:
        return False


def wait_until(answer: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not answer():
        assert time.monotonic() < deadline, "it didn't happen in time"
        time.sleep(0.01)
