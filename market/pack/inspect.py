"""What is this tree, and what is wrong with it: the one verdict that check, publish, index, install and loaders share.

Nothing is hashed (`market.pack.record`) and nothing written (`market.pack.archive_write`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.errors import Severity
from market.model import Pack
from market.pack.discover import COMMAND_FILE, GUIDE_FILE, Found, discover
from market.pack.front_matter import parse_front_matter
from market.pack.identity import Given as Given  # its users find it beside `inspect_pack`
from market.pack.identity import choose_pack_name, choose_version, find_conflicts
from market.pack.kinds import (
    COLLECTION_KIND,
    MARKED_KINDS,
    SKILL_KIND,
    choose_skill_folders,
    clean_folder,
    find_kind,
    is_wheel_kind,
)
from market.pack.pack_manifest import PackManifest
from market.pack.paths import check_path, find_collisions
from market.pack.python_project import lead_with_project
from market.pack.rules import NOT_PORTABLE, make_problem
from market.pack.skills import FolderReading, fold_name, read_folder
from market.pack.text import read_manifest
from market.pack.wheel_inspect import check_wheel
from market.pack.wheel_needs import add_wheel_needs
from market.pack.wheel_tree import own_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from market.errors import Problem
    from market.model import Skill
    from market.pack.kinds import PackKind
    from market.pack.source import Source, SourceFile

_MAX_ODD_FILES_READ = 20


@dataclass(frozen=True, slots=True)
class Inspection:
    """The verdict on a tree. `pack` is None where it has no identity or holds no manifest at all."""

    pack: Pack | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """What stops archiving, publishing and installing."""
        return self._with(Severity.ERROR)

    @property
    def refusals(self) -> tuple[Problem, ...]:
        """What stops publishing only."""
        return self._with(Severity.REFUSAL)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What stops nothing."""
        return self._with(Severity.WARNING)

    @property
    def archive_blockers(self) -> tuple[Problem, ...]:
        """What keeps the tree from being carried to another machine: the errors, and what works on this machine only."""
        return tuple(
            problem for problem in self.problems if problem.severity is Severity.ERROR or problem.rule in NOT_PORTABLE
        )

    def _with(self, severity: Severity) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is severity)


def inspect_pack(source: Source, given: Given = Given(), *, made_here: bool = False) -> Inspection:  # noqa: B008
    """Read all manifests of a tree and return the pack with all problems at once, in the order of their files.

    A skill with an error is left out of the pack and its problem reported; its siblings stay. `made_here`: Market put the tree
    together, so that beside a wheel may lie what was fetched for it. Who doesn't know that says nothing.
    """
    files = {file.path: file for file in source.files()}
    kind = find_kind(files)
    whole = files
    if made_here and is_wheel_kind(kind):
        # What it depends on lies beside it, and isn't its author's.
        files = {path: files[path] for path in own_paths(files)}
    problems = [*_check_paths(files)]
    manifest = kind.parse(read_manifest(source, files[kind.marker]), kind.marker) if kind else None
    if manifest and is_wheel_kind(kind):
        dist_info = manifest.file.partition("/")[0]
        manifest = replace(manifest, needs=add_wheel_needs(manifest.needs, source, whole, dist_info))
    problems.extend(manifest.problems if manifest else ())
    problems.extend(check_wheel(source, files, manifest) if manifest and is_wheel_kind(kind) else ())
    folders = choose_skill_folders(kind, manifest, files)
    found = discover(files.values(), folders)
    problems.extend(
        (*found.problems, *_check_skill_paths(manifest, files, found), *_check_odd_spellings(source, files, found))
    )
    top_name = given.name or (manifest.name if manifest else "") or source.name
    readings = [read_folder(source, files, folder, top_name, is_wheel=is_wheel_kind(kind)) for folder in found.folders]
    problems.extend(problem for reading in readings for problem in reading.problems)
    skills, repeated = _drop_repeated([skill for reading in readings for skill in reading.skills])
    problems.extend(repeated)
    if not readings:
        problems.append(make_problem("pack-empty", "no skill was found: there is no SKILL.md and no skill.json"))
        return Inspection(None, tuple(_in_order(problems)))
    pack, identity_problems = _make_pack(given, kind, manifest, readings, skills, source.name)
    problems.extend(_find_conflicts(source, files, given, manifest, readings))
    ordered = _in_order([*problems, *identity_problems])
    return Inspection(pack, tuple(ordered if kind else lead_with_project(source, files, ordered)))


def _make_pack(
    given: Given,
    kind: PackKind | None,
    manifest: PackManifest | None,
    readings: Sequence[FolderReading],
    skills: Sequence[Skill],
    source_name: str,
) -> tuple[Pack | None, list[Problem]]:
    own = readings if len(readings) == 1 else [reading for reading in readings if not reading.folder]
    names = [name for reading in own for name in reading.names]
    name, name_problems = choose_pack_name(given, manifest, names, source_name)
    home = manifest.file if manifest else own[0].file if own else ""
    versions = [version for reading in own for version in reading.versions]
    version, version_problems = choose_version(given, manifest, versions, home)
    if not all(reading.is_readable for reading in own) or (manifest and not manifest.is_readable):
        version_problems = [problem for problem in version_problems if problem.rule != "version-missing"]
    problems = [*name_problems, *version_problems]
    if name is None:
        return None, problems
    single = skills[0] if len(skills) == 1 and len(readings) == 1 else None
    kind_id = kind.id if kind else SKILL_KIND if single else COLLECTION_KIND
    pack = Pack(name, version, kind_id, skills=tuple(skills))
    return _describe(pack, manifest, single), problems


def _find_conflicts(
    source: Source,
    files: Mapping[str, SourceFile],
    given: Given,
    manifest: PackManifest | None,
    readings: Sequence[FolderReading],
) -> Iterator[Problem]:
    """Compare the manifests that stand at the pack's top, or in its only folder."""
    others = [
        kind.parse(read_manifest(source, files[kind.marker]), kind.marker)
        for kind in MARKED_KINDS
        if manifest and kind.marker in files and kind.marker != manifest.file
    ]
    top = [reading for reading in readings if not reading.folder] or (readings if not manifest else [])
    versions = top[0].versions if len(top) == 1 else ()
    yield from find_conflicts(given, manifest, others, versions)


def _describe(pack: Pack, manifest: PackManifest | None, single: Skill | None) -> Pack:
    """Fill in what the manifest says; of a pack with one skill, what that skill says where the manifest is silent."""
    fields = single.guide.front_matter if single and single.guide else {}
    said = manifest or PackManifest("")
    return replace(
        pack,
        summary=said.summary or (single.description if single else ""),
        license=said.license or _text_of(fields, "license"),
        homepage=said.homepage or _text_of(fields, "homepage"),
        repository=said.repository or _text_of(fields, "repository"),
        keywords=said.keywords,
        categories=said.categories,
        requires=said.requires,
        needs=said.needs if manifest or not single else single.needs,
    )


def _text_of(fields: Mapping[str, object], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _check_paths(files: Mapping[str, SourceFile]) -> Iterator[Problem]:
    for path in files:
        yield from check_path(path)
    yield from find_collisions(files)


def _check_skill_paths(
    manifest: PackManifest | None, files: Mapping[str, SourceFile], found: Found
) -> Iterator[Problem]:
    """Each path under `skills` must lead to a skill."""
    for written in (manifest.skills if manifest else None) or ():
        folder, place = clean_folder(written), manifest.places.get("skills", (0, 0)) if manifest else (0, 0)
        file = manifest.file if manifest else ""
        if written.startswith("/") or ".." in folder.split("/"):
            yield make_problem("skills-path", f"{written!r} leaves the pack", file, place)
        elif not any(not folder or skill == folder or skill.startswith(f"{folder}/") for skill in found.folders):
            there = any(path.startswith(f"{folder}/") for path in files)
            yield make_problem(
                "skills-path", f"{written!r} " + ("holds no skill" if there else "is not in the pack"), file, place
            )


def _check_odd_spellings(source: Source, files: Mapping[str, SourceFile], found: Found) -> Iterator[Problem]:
    """Report `skill.md`, `SKILL.MD`, ... that look like a skill; a page of that name among others is left alone."""
    for path in found.odd_spellings[:_MAX_ODD_FILES_READ]:
        is_guide = path.lower().endswith(".md")
        wanted = GUIDE_FILE if is_guide else COMMAND_FILE
        if (
            not is_guide
            or {"name", "description"} & parse_front_matter(read_manifest(source, files[path]), path).fields.keys()
        ):
            yield make_problem(
                "manifest-case",
                f"{path!r} is not read: the name is exactly {wanted!r}",
                path,
                fix=f"rename it to {wanted}",
            )


def _drop_repeated(skills: Sequence[Skill]) -> tuple[list[Skill], list[Problem]]:
    """Keep the first skill of each name; hyphen and underscore forms of a name can't stand side by side."""
    kept: dict[str, Skill] = {}
    problems: list[Problem] = []
    for skill in skills:
        first = kept.setdefault(fold_name(skill.name), skill)
        if first is not skill:
            text = f"the skill {skill.name!r} in {skill.folder or '.'!r} is already in {first.folder or '.'!r} as {first.name!r}"
            side = skill.command or skill.guide
            problems.append(make_problem("skill-duplicate", text, side.manifest if side else ""))
    return list(kept.values()), problems


def _in_order(problems: Sequence[Problem]) -> list[Problem]:
    return sorted(
        dict.fromkeys(problems),
        key=lambda problem: (problem.file.encode(), problem.line, problem.column),
    )
