"""Where other programs look for skills: one table, with a source for each line. What is written there is `skill_tree.py`.

All of them load FOLDER/SKILL.md below these directories. opencode looks into hidden folders as well, hence `sweep.hide_backups`;
tests/clients holds the programs to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class TargetScope(StrEnum):
    """Whose skills: this user's everywhere, or those of the project in the current folder."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Target:
    """One program. `user` is below the home folder; if `variable` is set and not empty, `below` is below its value instead."""

    name: str
    program: str
    user: str
    project: str
    variable: str = ""
    below: str = ""
    also: str = ""


TARGETS = {
    target.name: target
    for target in (
        # code.claude.com/docs/en/skills: personal ~/.claude/skills, project .claude/skills; CLAUDE_CONFIG_DIR moves ~/.claude.
        # Watched: what appears is there without a restart.
        Target("claude", "Claude Code", ".claude/skills", ".claude/skills", "CLAUDE_CONFIG_DIR", "skills"),
        # developers.openai.com/codex/skills: user $HOME/.agents/skills, repository .agents/skills ($CODEX_HOME/skills is the old
        # place, still read).
        Target("codex", "Codex", ".agents/skills", ".agents/skills"),
        # docs.openclaw.ai/tools/skills, and its loader: <workspace>/skills, then $OPENCLAW_STATE_DIR/skills (~/.openclaw/skills).
        # The project is the workspace that the program's configuration names.
        Target("openclaw", "OpenClaw", ".openclaw/skills", "skills", "OPENCLAW_STATE_DIR", "skills"),
        # opencode.ai/docs/skills: global ~/.config/opencode/skills (XDG_CONFIG_HOME), project .opencode/skills. Read at start.
        Target(
            "opencode", "opencode", ".config/opencode/skills", ".opencode/skills", "XDG_CONFIG_HOME", "opencode/skills"
        ),
        # agentskills.io/client-implementation: ~/.agents/skills and .agents/skills, read by Codex, OpenClaw, opencode and others.
        Target("agents", "programs that follow agentskills.io", ".agents/skills", ".agents/skills"),
    )
}


def target_root(name: str, scope: TargetScope, environ: Mapping[str, str], folder: Path) -> Path:
    """Return the directory into which skills for a program are installed; `folder` is the project's."""
    target = TARGETS[name]
    if scope is TargetScope.PROJECT:
        return folder / target.project
    moved = environ.get(target.variable, "") if target.variable else ""
    if moved:
        return Path(os.path.abspath(Path(moved).expanduser())) / target.below  # noqa: PTH100 - a link keeps its name
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        raise InvalidInput(
            f"the folder of {target.program} for this user isn't known",
            why="HOME is not set to an absolute path",
            hint="set HOME, or use --scope project",
        )
    return Path(home) / target.user


def target_roots(environ: Mapping[str, str], folder: Path) -> Iterator[Path]:
    """Yield every directory of the table in the order of precedence: the project's before the user's, in the table's order."""
    seen: set[Path] = set()
    for scope in (TargetScope.PROJECT, TargetScope.USER):
        for name in TARGETS:
            if scope is TargetScope.USER and not environ.get("HOME", "").startswith("/"):
                continue
            path = target_root(name, scope, environ, folder)
            if path not in seen:
                seen.add(path)
                yield path
