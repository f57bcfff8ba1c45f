"""From the manifests of one folder to its skill or skills: one with two sides where the names agree, else one for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.errors import Severity
from market.model import Command, Guide, Kind, Skill
from market.pack.classes import strictest
from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.pack.entry import check_entry
from market.pack.needs import read_needs
from market.pack.skill_json import CommandManifest, parse_skill_json
from market.pack.skill_md import GuideManifest, parse_skill_md

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.errors import Problem
    from market.model import Needs
    from market.pack.source import Source, SourceFile


@dataclass(frozen=True, slots=True)
class FolderReading:
    """The skills of one folder, the versions that its manifests carry (command first), and all problems."""

    folder: str
    skills: tuple[Skill, ...]
    versions: tuple[tuple[str, str], ...]
    problems: tuple[Problem, ...]


def read_folder(source: Source, files: Mapping[str, SourceFile], folder: str, top_name: str) -> FolderReading:
    """Read a folder's manifests. `top_name` stands in for the folder's name at the pack's top."""
    command_file, guide_file = (f"{folder}/{name}" if folder else name for name in (COMMAND_FILE, GUIDE_FILE))
    command = parse_skill_json(source.read(command_file), command_file) if command_file in files else None
    guide = None
    if guide_file in files:
        guide = parse_skill_md(source.read(guide_file), guide_file, folder_name=folder.rpartition("/")[2] if folder else top_name)
    entry_problems = tuple(check_entry(command, folder, source, files)) if command and command.entry and not command.is_broken else ()
    command_is_good = command is not None and not command.is_broken and not any(p.severity is Severity.ERROR for p in entry_problems)
    skills = _join(_command_skill(command, folder) if command and command_is_good else None, _guide_skill(guide, folder) if guide and not guide.is_broken else None)
    manifests = tuple(manifest for manifest in (command, guide) if manifest is not None)
    return FolderReading(
        folder,
        skills,
        tuple((manifest.file, manifest.version) for manifest in manifests if manifest.version),
        (*(problem for manifest in manifests for problem in manifest.problems), *entry_problems),
    )


def fold_name(name: str) -> str:
    """Return the spelling that hyphen and underscore forms of a name share."""
    return name.replace("-", "_")


def _command_skill(manifest: CommandManifest, folder: str) -> Skill:
    command = Command(manifest.file, manifest.entry, manifest.schema, manifest.env_allow, manifest.timeout_seconds)
    return Skill(
        manifest.name,
        Kind.COMMAND,
        manifest.description,
        folder,
        manifest.skill_class,
        category=manifest.category,
        command=command,
        needs=read_needs(manifest.metadata),
    )


def _guide_skill(manifest: GuideManifest, folder: str) -> Skill:
    fields = manifest.front_matter.fields
    guide = Guide(manifest.file, manifest.marker, manifest.disable_model_invocation, fields)
    category = fields.get("category")
    skill = Skill(manifest.name, Kind.GUIDE, manifest.description, folder, manifest.skill_class, guide=guide, needs=read_needs(fields.get("metadata")))
    return replace(skill, category=category) if isinstance(category, str) and category else skill


def _join(command: Skill | None, guide: Skill | None) -> tuple[Skill, ...]:
    """A SKILL.md and a skill.json of one name are one skill; the command's name is the key, and it is as dangerous as either side."""
    if command is None or guide is None:
        return tuple(skill for skill in (command, guide) if skill is not None)
    if fold_name(command.name) != fold_name(guide.name):
        return command, guide
    return (replace(command, guide=guide.guide, skill_class=strictest(command.skill_class, guide.skill_class), needs=_join_needs(command.needs, guide.needs)),)


def _join_needs(first: Needs, second: Needs) -> Needs:
    return replace(
        first,
        os=first.os or second.os,
        bins=tuple(dict.fromkeys((*first.bins, *second.bins))),
        env=tuple(dict.fromkeys((*first.env, *second.env))),
    )
