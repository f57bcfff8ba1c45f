"""`market host token ...` and what `market host reload` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from market.host.cli import host_group
from market.host.reload import registered_text

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_token_is_alone_on_stdout(tmp_path: Path) -> None:
    made = CliRunner().invoke(host_group, ["token", "create", "--role", "viewer", "--name", "bob"], env={"MARKET_HOME": str(tmp_path)})
    assert made.stdout.startswith("skh_") and made.stdout.count("\n") == 1
    assert made.stderr == "the token of 'bob' with the role viewer; it isn't shown again\n"


def test_one_skill_is_one() -> None:
    assert [registered_text(count) for count in (0, 1, 2)] == ["0 skills are registered", "1 skill is registered", "2 skills are registered"]
