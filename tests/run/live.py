"""A skill on disk with its LiveSkill, made without a registry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from market.model import Command, Guide, Kind, Skill, SkillClass, State
from market.registry.live import LiveSkill

if TYPE_CHECKING:
    from pathlib import Path


def write_script(path: Path, text: str, mode: int = 0o755) -> Path:
    """Write an executable file and its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def a_live_skill(unit: Path, *, root: Path | None = None, folder: str = "", **changes: Any) -> LiveSkill:
    """A live command skill whose tree is `unit`; `changes` are fields of Command, and skill_class, kind, state, key."""
    key = changes.pop("key", "tested")
    kind = changes.pop("kind", Kind.COMMAND)
    state = changes.pop("state", State.LIVE)
    skill_class = changes.pop("skill_class", SkillClass.SAFE)
    command = Command(**{"manifest": "skill.json", "entry": "run.sh", "schema": {}, "timeout_seconds": 10, **changes})
    skill = Skill(
        name=key,
        kind=kind,
        description="A skill under test.",
        folder=folder,
        skill_class=skill_class,
        command=None if kind is Kind.GUIDE else command,
        guide=Guide(manifest="SKILL.md", marker="m") if kind is Kind.GUIDE else None,
    )
    status = os.stat(unit)
    return LiveSkill(
        key=key,
        skill=skill,
        pack=unit.name,
        version="1.0.0",
        state=state,
        root=str(root or unit.parent),
        unit=str(unit),
        device=status.st_dev,
        inode=status.st_ino,
    )


def a_script_skill(root: Path, text: str, *, name: str = "pack", **changes: Any) -> LiveSkill:
    """A live skill whose `run.sh` has this text."""
    write_script(root / name / changes.get("folder", "") / "run.sh", text)
    return a_live_skill(root / name, **changes)
