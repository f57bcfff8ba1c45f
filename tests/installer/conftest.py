from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from market.installer.root import Root, open_root

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder in memory where there is one: sweeps over every call need hundreds of installs, and no disk's patience."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def root(memory_path: Path) -> Root:
    """A new root, in memory: what a disk does of its own is tested in `test_real_disks`."""
    return open_root(memory_path / "My skills — büro", create=True)
