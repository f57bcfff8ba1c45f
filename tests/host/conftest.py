"""One real host process for the tests of a file, with a person of each role."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.host.hosts import HostUnderTest, start_host

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostUnderTest]:
    """A host over one root with a skill of each class, a guide, and what doesn't load."""
    with start_host(tmp_path_factory.mktemp("host")) as running:
        yield running
