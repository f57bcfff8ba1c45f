from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cases.road import Road
from tests.cli.shell import Shell
from tests.index.builders import an_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def road(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Road]:
    """The command line with its index in memory, and a real index beside it."""
    with an_index(tmp_path / "index-data") as index:
        yield Road(Shell(tmp_path, monkeypatch), index)
