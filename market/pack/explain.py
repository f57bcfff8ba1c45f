"""Why each file of a tree is or isn't a skill, in words, by the one rule of `market.pack.discover`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Severity
from market.pack.discover import COMMAND_FILE, GUIDE_FILE, PASSED_OVER, discover
from market.pack.entry import resolve_entry
from market.pack.kinds import MARKED_KINDS, choose_skill_folders, find_kind
from market.pack.paths import MAX_DEPTH
from market.pack.text import read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.errors import Problem
    from market.model import Pack
    from market.pack.discover import Found
    from market.pack.kinds import PackKind
    from market.pack.source import Source

DISCOVERY_RULE = (
    f"Every folder with a file named exactly {GUIDE_FILE} or {COMMAND_FILE} is a skill, at any depth up to {MAX_DEPTH}.",
    f"Folders that start with a dot, {' and '.join(sorted(PASSED_OVER, reverse=True))} are passed over.",
    f"Below a folder with a {GUIDE_FILE}, another {GUIDE_FILE} is content of the first; a {COMMAND_FILE} is still a skill.",
    "Where a pack.yaml names `skills`, or a plugin's manifest stands at the top, only those folders are searched.",
)


def explain_files(source: Source, pack: Pack | None, problems: Sequence[Problem]) -> tuple[tuple[str, str], ...]:
    """Return every file with what it counts as. `pack` and `problems` are what `inspect_pack` said of the same tree."""
    files = {file.path: file for file in source.files()}
    kind = find_kind(files)
    manifest = kind.parse(read_manifest(source, files[kind.marker]), kind.marker) if kind else None
    within = choose_skill_folders(kind, manifest, files)
    found = discover(files.values(), within)
    loaded = {
        side.manifest: skill.name
        for skill in (pack.skills if pack else ())
        for side in (skill.guide, skill.command)
        if side is not None
    }
    entries = _find_entries(pack)
    broken = {problem.file: problem.rule for problem in reversed(problems) if problem.severity is not Severity.WARNING}
    foreign = {problem.file for problem in problems if problem.rule == "command-foreign"}

    def explain(path: str) -> str:
        folder, _, name = path.rpartition("/")
        if path in loaded:
            return f"the {'guide' if name == GUIDE_FILE else 'command'} {loaded[path]!r}"
        if path in entries:
            return f"the program of {entries[path]!r}"
        if path in foreign:
            return "another tool's file: it has no field that only a command has"
        if name in (GUIDE_FILE, COMMAND_FILE):
            return _explain_manifest(folder, name, found, within, broken.get(path, ""))
        return _explain_other(path, name, kind, found)

    return tuple((path, explain(path)) for path in files)


def _find_entries(pack: Pack | None) -> Mapping[str, str]:
    commands = [(skill, skill.command) for skill in (pack.skills if pack else ()) if skill.command]
    paths = [(resolve_entry(skill.folder, command.entry), skill.name) for skill, command in commands]
    return {path: name for path, name in paths if path}


def _explain_manifest(folder: str, name: str, found: Found, within: Sequence[str] | None, rule: str) -> str:
    parts = folder.split("/") if folder else []
    if hidden := next((part for part in parts if part.startswith(".") or part in PASSED_OVER), ""):
        return f"no skill: the folder {hidden!r} is passed over"
    if len(parts) > MAX_DEPTH:
        return f"no skill: it lies more than {MAX_DEPTH} folders deep"
    if folder in (found.guides if name == GUIDE_FILE else found.commands):
        return f"a skill that isn't loaded: {rule or 'its name is taken by another one'}"
    if within is not None and not any(not top or folder == top or folder.startswith(f"{top}/") for top in within):
        return f"no skill: only {', '.join(top or 'the top' for top in within)} is searched"
    return "no skill: it lies below a folder with a SKILL.md, and is that skill's content"


def _explain_other(path: str, name: str, kind: PackKind | None, found: Found) -> str:
    if kind and path == kind.marker:
        return f"the pack's manifest: {kind.sentence}"
    if any(path == other.marker for other in MARKED_KINDS):
        return f"not read: {kind.marker if kind else ''} comes before it"
    if name.lower() in ("skill.md", "skill.json"):
        return f"no skill: the name is not exactly {GUIDE_FILE if name.lower().endswith('md') else COMMAND_FILE}"
    folder = path.rpartition("/")[0]
    while folder and folder not in found.guides | found.commands:
        folder = folder.rpartition("/")[0]
    if folder in found.guides | found.commands:
        return f"content of the skill in {folder or '.'!r}"
    return "content of the pack"
