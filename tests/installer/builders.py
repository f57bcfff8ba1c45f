"""Small real packs, verified as everywhere, and the invariants of a root that is at rest."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from market.installer.listing import list_directories
from market.installer.receipt import Origin
from market.installer.transaction import Arrival, install_packs, lock_root
from market.installer.tree_state import TreeState
from market.pack.archive_write import write_archive
from market.pack.inspect import Given
from market.pack.source import MemorySource
from market.trust.verify import verify_archive
from tests.factories import RUN_SCRIPT, a_skill_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from market.installer.plan import Change
    from market.installer.root import Root

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def an_arrival(
    name: str = "echo-args",
    version: str = "1.0.0",
    extra: Mapping[str, bytes] | None = None,
    *,
    publisher: str = "acme",
    kind: str = "archive",
) -> Arrival:
    contents = {
        "skill.json": a_skill_json(name=name.replace("-", "_")),
        "run.sh": RUN_SCRIPT,
        "notes/version.txt": version.encode(),
    }
    archive = io.BytesIO()
    write_archive(MemorySource({**contents, **(extra or {})}, executables=frozenset({"run.sh"})), archive)
    return Arrival(verify_archive(archive, Given(name=name, version=version)), publisher, Origin(kind, f"/{name}.zip"))


def install(
    root: Root,
    *arrivals: Arrival,
    overwrite_edits: bool = False,
    accept_publisher: bool = False,
    timeout_seconds: float = 5,
) -> tuple[Change, ...]:
    with lock_root(root, timeout_seconds=timeout_seconds) as locked:
        return install_packs(locked, arrivals, NOW, overwrite_edits=overwrite_edits, accept_publisher=accept_publisher)


def read_tree(path: Path) -> dict[str, bytes] | None:
    if not path.is_dir():
        return None
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


def version_of(root: Root, name: str) -> str | None:
    """The version whose whole tree stands there, None for no tree; anything between is an AssertionError."""
    tree = read_tree(root.tree(name))
    if tree is None:
        return None
    assert set(tree) >= {"skill.json", "run.sh", "notes/version.txt"}, f"{name} is half there: {sorted(tree)}"
    return tree["notes/version.txt"].decode()


def check_at_rest(root: Root, *, leased: int = 0) -> None:
    """Nothing is under way or left over, and every receipt is true of its tree."""
    assert os.listdir(root.intents) == []
    assert os.listdir(root.staging) == []
    assert len(os.listdir(root.retired)) == leased
    assert not [name for name in os.listdir(root.receipts) if not name.endswith(".json") or name.startswith(".")]
    installed = list_directories(root, thorough=True)
    assert [one.state for one in installed] == [TreeState.INTACT] * len(installed), installed
    trees = {path.name for path in root.path.iterdir() if path.name != ".market"}
    assert trees == {one.name for one in installed}
