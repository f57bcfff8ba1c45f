"""From the manifests of one folder to its skill or skills: one with two sides where the names agree, else one for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.model import Command, Guide, Kind, Skill
from market.pack.classes import strictest
from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.pack.entry import check_entry
from market.pack.entry_python import check_python_entry, is_python_entry
from market.pack.identity import Candidate
from market.pack.needs import join_needs, read_needs
from market.pack.rules import make_problem
from market.pack.skill_json import CommandManifest, parse_skill_json
from market.pack.skill_md import GuideManifest, parse_skill_md
from market.pack.text import read_manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.errors import Problem
    from market.pack.source import Source, SourceFile


@dataclass(frozen=True, slots=True)
class FolderReading:
    """The skills of one folder, the names (as file and text) and versions that its manifests carry, and all problems.

    Names stay known where a skill has an error. `is_readable` is False where a manifest's text is broken, so that nobody
    knows which version it carries. `file` is the first manifest.
    """

    folder: str
    skills: tuple[Skill, ...]
    names: tuple[tuple[str, str], ...]
    versions: tuple[Candidate, ...]
    problems: tuple[Problem, ...]
    is_readable: bool = True
    file: str = ""


def read_folder(
    source: Source, files: Mapping[str, SourceFile], folder: str, top_name: str, *, is_wheel: bool = False
) -> FolderReading:
    """Read a folder's manifests. `top_name` stands in for the folder's name at the pack's top; python entries belong to wheels."""
    guide = _read_guide(source, files, folder, top_name)
    command = _read_command(source, files, folder, has_guide=guide is not None, is_wheel=is_wheel)
    skills = _join(
        _command_skill(command, folder) if command and command.entry and not command.is_broken else None,
        _guide_skill(guide, folder) if guide and not guide.is_broken else None,
    )
    manifests = tuple(manifest for manifest in (command, guide) if manifest is not None)
    names = {
        fold_name(manifest.name): (manifest.file, manifest.name) for manifest in reversed(manifests) if manifest.name
    }
    versions = tuple(_version_candidate(manifest) for manifest in manifests if manifest.version)
    problems = tuple(problem for manifest in manifests for problem in manifest.problems)
    is_readable = not (guide and guide.front_matter.is_broken) and not (command and command.document is None)
    return FolderReading(
        folder, skills, tuple(names.values()), versions, problems, is_readable, manifests[0].file if manifests else ""
    )


def _version_candidate(manifest: CommandManifest | GuideManifest) -> Candidate:
    """A place in JSON costs another pass over the file, and is wanted in a conflict only: that of the SKILL.md will do."""
    return Candidate(manifest.version, manifest.file, getattr(manifest, "version_place", (0, 0)))


def _read_guide(source: Source, files: Mapping[str, SourceFile], folder: str, top_name: str) -> GuideManifest | None:
    file = f"{folder}/{GUIDE_FILE}" if folder else GUIDE_FILE
    if file not in files:
        return None
    name = folder.rpartition("/")[2]
    return parse_skill_md(
        read_manifest(source, files[file]), file, folder_name=name or source.name, fallback_name=name or top_name
    )


def _read_command(
    source: Source, files: Mapping[str, SourceFile], folder: str, *, has_guide: bool, is_wheel: bool
) -> CommandManifest | None:
    file = f"{folder}/{COMMAND_FILE}" if folder else COMMAND_FILE
    if file not in files:
        return None
    manifest = parse_skill_json(read_manifest(source, files[file]), file)
    if has_guide and manifest.is_foreign:
        text = f"{file} has none of a command's fields, so it was taken for another tool's file"
        return replace(manifest, version="", problems=(make_problem("command-foreign", text, file, (1, 1)),))
    if manifest.is_broken or not manifest.entry:
        return manifest
    if is_wheel and is_python_entry(manifest.entry):
        return replace(manifest, problems=(*manifest.problems, *check_python_entry(manifest, files)))
    return replace(manifest, problems=(*manifest.problems, *check_entry(manifest, folder, source, files)))


def fold_name(name: str) -> str:
    """Return the spelling that hyphen and underscore forms of a name share."""
    return name.replace("-", "_")


def _command_skill(manifest: CommandManifest, folder: str) -> Skill:
    command = Command(manifest.file, manifest.entry, manifest.schema, manifest.env_allow, manifest.timeout_seconds)
    return Skill(
        manifest.name,
        Kind.PYTHON if is_python_entry(manifest.entry) else Kind.COMMAND,
        manifest.description,
        folder,
        manifest.skill_class,
        category=manifest.category,
        command=command,
        needs=read_needs(manifest.metadata),
    )


def _guide_skill(manifest: GuideManifest, folder: str) -> Skill:
    fields = manifest.front_matter.fields
    guide = Guide(
        manifest.file,
        manifest.marker,
        manifest.disable_model_invocation,
        fields,
        manifest.when_to_use,
        manifest.activation,
        manifest.tools,
    )
    category = fields.get("category")
    skill = Skill(
        manifest.name,
        Kind.GUIDE,
        manifest.description,
        folder,
        manifest.skill_class,
        manifest.scope,
        guide=guide,
        needs=read_needs(fields.get("metadata")),
    )
    return replace(skill, category=category) if isinstance(category, str) and category else skill


def _join(command: Skill | None, guide: Skill | None) -> tuple[Skill, ...]:
    """A SKILL.md and a skill.json of one name are one skill; the command's name is the key, and it is as dangerous as either side."""
    if command is None or guide is None:
        return tuple(skill for skill in (command, guide) if skill is not None)
    if fold_name(command.name) != fold_name(guide.name):
        return command, guide
    return (
        replace(
            command,
            guide=guide.guide,
            skill_class=strictest(command.skill_class, guide.skill_class),
            needs=join_needs(command.needs, guide.needs),
        ),
    )
