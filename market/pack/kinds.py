"""The closed table of kinds of pack, and what marks each. Closed, so that index and client can't disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.pack.pack_manifest import PackManifest, parse_pack_yaml, parse_plugin_json

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
SKILL_KIND = "skill"  # no manifest of its own, one skill
COLLECTION_KIND = "collection"  # no manifest of its own, several skills
KINDS = (*(kind.id for kind in MARKED_KINDS), SKILL_KIND, COLLECTION_KIND)


def find_kind(paths: Collection[str]) -> PackKind | None:
    """Return the first row whose marker is among a tree's paths."""
    return next((kind for kind in MARKED_KINDS if kind.marker in paths), None)


def choose_skill_folders(
    kind: PackKind | None, manifest: PackManifest | None, paths: Collection[str]
) -> tuple[str, ...] | None:
    """Return the folders in which skills are sought; None for the whole tree."""
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
