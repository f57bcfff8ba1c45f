"""The sample packs as live skills, run the way a host runs them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from market.disk.walk import open_folder
from market.model import State
from market.pack.inspect import inspect_pack
from market.registry.live import LiveSkill
from market.run.args import dump_args, fill_args
from market.run.command import CommandExecutor
from market.run.pool import SupervisorPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.model import Outcome

SAMPLE_PACKS = Path(__file__).parents[2] / "sample-packs"


def find_skill(pack: str, name: str) -> LiveSkill:
    """The skill as the registry would hold it."""
    unit = SAMPLE_PACKS / pack
    with open_folder(unit) as folder:
        inspected = inspect_pack(folder.source).pack
    assert inspected is not None
    skill = next(skill for skill in inspected.skills if skill.name == name)
    status = os.stat(unit)
    return LiveSkill(
        key=name,
        skill=skill,
        pack=pack,
        version=str(inspected.version),
        state=State.LIVE,
        root=str(SAMPLE_PACKS),
        unit=str(unit),
        device=status.st_dev,
        inode=status.st_ino,
    )


class Runner:
    """Runs skills of the sample packs with filled arguments, or with any text at all."""

    def __init__(self, executor: CommandExecutor) -> None:
        self._executor = executor

    def __call__(self, pack: str, name: str, /, **args: Any) -> Any:
        """Run a skill that is expected to succeed; return its result."""
        outcome = self.outcome(pack, name, json.loads(self.dump(pack, name, args)))
        assert not outcome.error, outcome.error
        return outcome.result

    def dump(self, pack: str, name: str, args: dict[str, Any]) -> str:
        command = find_skill(pack, name).skill.command
        assert command is not None
        return dump_args(fill_args(command.schema, args))

    def outcome(self, pack: str, name: str, args: object) -> Outcome:
        """Run a skill past its schema; return whatever came of it."""
        skill = find_skill(pack, name)
        assert skill.skill.command is not None
        return self._executor.execute(skill, json.dumps(args), skill.skill.command.timeout_seconds)


@pytest.fixture(scope="session")
def run() -> Iterator[Runner]:
    with SupervisorPool(size=1) as pool:
        yield Runner(CommandExecutor(pool, {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}))
