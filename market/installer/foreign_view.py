"""What other programs make of the skills in their folders: each SKILL.md against the rules of those that read the folder.

The rules are proved against the programs (`market.pack.clients`). Codex's aren't known, so that its word is never guessed.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.errors import MarketError
from market.installer.doctor import ERROR, NOTE, WARNING, Finding
from market.installer.layout import Layout, load_layout
from market.installer.listing import installed_names
from market.installer.targets import TARGETS, TargetScope, target_root
from market.pack.clients import CLIENTS, judge_guide
from market.pack.discover import GUIDE_FILE
from market.pack.skill_md import OPENCLAW_MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.installer.root import Root

OPENCLAW = "openclaw"
# Which programs read a target's folder; opencode reads those of the others too, see its documentation and decision 0052.
READERS = {
    "claude": ("claude-code", "opencode"),
    "codex": ("opencode", OPENCLAW),
    "openclaw": (OPENCLAW,),
    "opencode": ("opencode",),
    "agents": ("opencode", OPENCLAW),
}
MAX_READ_BYTES = 1 << 20
"""Front matter lies at the start; no more of a guide is read."""

_VERSIONS = {client.id: f"{client.id} {client.version}" for client in CLIENTS}


def examine_clients(root: Root, environ: Mapping[str, str], folder: Path) -> Iterator[Finding]:
    """Yield each skill that a program which reads this root would drop. `folder` is the current project's.

    Only roots of layout `skills` are read by other programs. A folder that isn't in the table of targets is held against nothing.
    """
    try:
        targets = find_targets(root.path, environ, folder) if load_layout(root) is Layout.SKILLS else ()
        names = set(installed_names(root)) if targets else set()
    except MarketError as error:
        yield Finding("unreadable", ERROR, str(root.path), f"{error.message}: {error.why}", error.hint)
        return
    readers = list(dict.fromkeys(reader for target in targets for reader in READERS[target]))
    for path in sorted(root.path.iterdir()) if readers else ():
        if path.name.startswith(".") or not path.is_dir():
            continue
        is_ours = path.name in names
        try:
            reasons = _judge(path, readers, is_ours=is_ours)
        except MarketError as error:
            yield Finding("unreadable", ERROR, str(path), f"{error.message}: {error.why}", error.hint)
            continue
        for reader, reason in reasons.items():
            # In .claude/skills opencode is a guest: whoever doesn't use it has nothing to mend.
            severity = NOTE if reader == "opencode" and set(targets) == {"claude"} else WARNING
            text = f"{_VERSIONS.get(reader, 'OpenClaw')} drops the skill {path.name}: {reason}"
            yield Finding("client-drops-skill", severity, str(path / GUIDE_FILE), text, _fix(path, is_ours=is_ours))


def find_targets(path: Path, environ: Mapping[str, str], folder: Path) -> tuple[str, ...]:
    """Return the targets whose folder this is: for this user, for the current project, or by its name for any project."""
    found = []
    for name, target in TARGETS.items():
        project = Path(target.project).parts
        places = [target_root(name, TargetScope.PROJECT, environ, folder)]
        if environ.get("HOME", "").startswith("/") or environ.get(target.variable):
            places.append(target_root(name, TargetScope.USER, environ, folder))
        # A name of one part, such as `skills`, may be anybody's.
        is_named = len(project) > 1 and path.parts[-len(project) :] == project
        if is_named or any(place.resolve() == path.resolve() for place in places):
            found.append(name)
    return tuple(found)


def _judge(path: Path, readers: list[str], *, is_ours: bool) -> dict[str, str]:
    """Return why each program drops a folder's skill. A folder of somebody's own without a guide is no skill."""
    guide = path / GUIDE_FILE
    if GUIDE_FILE not in os.listdir(path) or not guide.is_file():
        return dict.fromkeys(readers, f"it has no {GUIDE_FILE}") if is_ours else {}
    with disk_failures("read", guide):
        size = guide.stat().st_size
        with guide.open("rb") as stream:
            data = stream.read(MAX_READ_BYTES)
    reasons = {one.client: one.reason for one in judge_guide(data, path.name).clients}
    reasons[OPENCLAW] = f"it has more than {OPENCLAW_MAX_BYTES:,} bytes" if size > OPENCLAW_MAX_BYTES else ""
    return {reader: reasons[reader] for reader in readers if reasons[reader]}


def _fix(path: Path, *, is_ours: bool) -> str:
    check = f"`market check {path}` shows the place"
    if is_ours:
        return (
            f"{check}; ask its author for a version that loads, or correct it and `market verify --accept {path.name}`"
        )
    return f"{check}; correct it there"
