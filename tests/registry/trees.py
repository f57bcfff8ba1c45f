"""Small real trees on the disk for tests of the registry: packs by hand, and packs installed as everywhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from market.registry.loader import Loader
from market.registry.registry import Registry
from market.registry.unit import LoadedUnit, UnitId
from tests.factories import RUN_SCRIPT, a_skill_json, a_skill_md

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

WAIT_SECONDS = 10.0


def write_tree(folder: Path, contents: Mapping[str, bytes | str], *, executables: frozenset[str] = frozenset({"run.sh"})) -> Path:
    for path, content in contents.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        file.chmod(0o755 if file.name in executables else 0o644)
    return folder


def a_command_folder(folder: Path, **changes: object) -> Path:
    """A pack of one command, named after its folder unless `name` says otherwise."""
    manifest = a_skill_json(**{"name": folder.name.replace("-", "_"), **changes})
    return write_tree(folder, {"skill.json": manifest, "run.sh": RUN_SCRIPT})


def a_guide_folder(folder: Path, *, description: str = "Greets. Use when somebody arrives.", extra: str = "", body: str = "# Greet\n") -> Path:
    return write_tree(folder, {"SKILL.md": a_skill_md(folder.name, description, extra=extra, body=body)})


def load(root: Path, name: str) -> LoadedUnit:
    unit = Loader().load(UnitId(str(root), name))
    assert unit is not None
    return unit


def a_registry(*roots: Path, integrity: str = "hold") -> Registry:
    registry = Registry([str(root) for root in roots], Loader(integrity).load)
    registry.load()
    return registry


def wait_for(answer: Callable[[], object], seconds: float = WAIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not answer():
        assert time.monotonic() < deadline, "it didn't happen in time"
        time.sleep(0.005)
