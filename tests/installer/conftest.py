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
def root(tmp_path: Path) -> Root:
    return open_root(tmp_path / "My skills — büro", create=True)


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder in memory where there is one: sweeps over every call need hundreds of installs, and no disk's patience."""
    folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    yield folder
    shutil.rmtree(folder)
