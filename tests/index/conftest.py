from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.index.builders import AnIndex, an_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def index(tmp_path: Path) -> Iterator[AnIndex]:
    with an_index(tmp_path / "data") as made:
        yield made
