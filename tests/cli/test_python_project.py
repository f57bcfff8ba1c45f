"""The source of a wheel, given where a pack is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.shell import Shell


@pytest.mark.parametrize("command", ["check", "publish", "install"])
def test_the_source_of_a_wheel_is_no_pack_and_how_to_build_it_comes_first(shell: Shell, command: str) -> None:
    shell("new", "my-tools", "--kind", "plugin")
    ran = shell(command, "./my-tools", expect=2)
    told = [line for line in (ran.out + ran.err).splitlines() if line.endswith("]")]
    assert told[0].lstrip().startswith("pyproject.toml:") and "it is a Python project" in told[0]
    assert "`uv build`, or `python -m build`" in ran.out + ran.err
    assert "nothing gives the pack a version" not in ran.out + ran.err
