"""The closed table of kinds of pack, and what marks each. Closed, so that index and client can't disagree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.pack.pack_manifest import PackManifest, parse_pack_yaml, parse_plugin_json
from market.pack.wheel_metadata import parse_metadata
from market.pack.wheel_tree import find_dist_info, package_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

DEFAULT_SKILL_FOLDER = "skills"


@dataclass(frozen=True, slots=True)
class PackKind:
    """One row: the file whose presence decides, how to read it, and whether skills are sought in `skills/` only."""

    id: str
    marker: str
    sentence: str
    parse: Callable[[bytes, str], PackManifest]
    looks_in_skills_folder: bool = False


# The first marker that is present wins; OpenClaw before Claude Code, as OpenClaw's own loader does.
MARKED_KINDS = (
    PackKind("pack", "pack.yaml", "a pack with its own manifest", parse_pack_yaml),
    PackKind("openclaw-plugin", "openclaw.plugin.json", "a plugin of OpenClaw", parse_plugin_json, True),
    PackKind("claude-plugin", ".claude-plugin/plugin.json", "a plugin of Claude Code", parse_plugin_json, True),
)
# Its marker stands in a folder that is named after the release; `find_kind` puts the folder's name in.
WHEEL_KIND = PackKind("wheel", "METADATA", "a wheel with the entry-point group market.skills", parse_metadata)
SKILL_KIND = "skill"  # no manifest of its own, one skill
COLLECTION_KIND = "collection"  # no manifest of its own, several skills
KINDS = (WHEEL_KIND.id, *(kind.id for kind in MARKED_KINDS), SKILL_KIND, COLLECTION_KIND)


def find_kind(paths: Collection[str]) -> PackKind | None:
    """Return the first row whose marker is among a tree's paths. A wheel's own description comes before all others."""
    if dist_info := find_dist_info(paths):
        return replace(WHEEL_KIND, marker=f"{dist_info}/{WHEEL_KIND.marker}")
    return next((kind for kind in MARKED_KINDS if kind.marker in paths), None)


def is_wheel_kind(kind: PackKind | None) -> bool:
    """Whether a row is the one for wheels."""
    return kind is not None and kind.id == WHEEL_KIND.id


def choose_skill_folders(
    kind: PackKind | None, manifest: PackManifest | None, paths: Collection[str]
) -> tuple[str, ...] | None:
    """Return the folders in which skills are sought; None for the whole tree."""
    if is_wheel_kind(kind):
        return package_folders(paths)
    named = manifest.skills if manifest is not None else None
    has_folder = (
        kind is not None
        and kind.looks_in_skills_folder
        and any(path.startswith(f"{DEFAULT_SKILL_FOLDER}/") for path in paths)
    )
    default = (DEFAULT_SKILL_FOLDER,) if has_folder else ()
    if named is None:
        return default or None
    return (*default, *(clean_folder(path) for path in named))


def clean_folder(path: str) -> str:
    """Return a folder as written in a manifest (`./skills/x/`) in the form of a tree's paths; empty for the top."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))
