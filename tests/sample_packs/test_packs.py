"""Every sample pack is a good pack: no problem of any severity, and installable as it stands."""

from __future__ import annotations

import json

import pytest

from market.disk.walk import open_folder
from market.model import Kind
from market.pack.inspect import inspect_pack
from tests.sample_packs.conftest import SAMPLE_PACKS, find_skill

PACKS = ("disk-cleaner", "net-probe", "host-facts", "incident-triage", "release-notes")


@pytest.mark.parametrize("name", PACKS)
def test_a_sample_pack_has_no_problem_at_all(name: str) -> None:
    with open_folder(SAMPLE_PACKS / name) as folder:
        inspection = inspect_pack(folder.source)
        assert (*folder.problems, *inspection.problems) == ()
    assert inspection.pack is not None
    assert (inspection.pack.name, str(inspection.pack.version), inspection.pack.license) == (name, "1.0.0", "Apache-2.0")
    assert inspection.pack.summary
    assert inspection.pack.keywords


def test_disk_cleaner_has_exactly_the_manifest_of_the_documents() -> None:
    assert json.loads((SAMPLE_PACKS / "disk-cleaner/skill.json").read_text()) == {
        "name": "disk_cleaner",
        "description": "Free up disk by clearing stale build caches and journals.",
        "schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Root path to clean."},
                "dry_run": {"type": "boolean", "default": True},
            },
            "required": ["path"],
        },
        "entry": "run.sh",
        "env_allow": ["PATH", "HOME"],
        "timeout_seconds": 60,
        "class": "mutating",
        "category": "ops",
    }


def test_release_notes_is_one_skill_with_two_sides() -> None:
    skill = find_skill("release-notes", "release_notes").skill
    assert (skill.kind, skill.guide is not None, skill.command is not None) == (Kind.COMMAND, True, True)


def test_the_guides_references_exist() -> None:
    folder = SAMPLE_PACKS / "incident-triage"
    text = (folder / "SKILL.md").read_text()
    references = sorted((folder / "references").iterdir())
    assert references
    assert all(f"(references/{path.name})" in text for path in references)


def test_running_a_pack_writes_nothing_into_it() -> None:
    assert not [path for path in SAMPLE_PACKS.rglob("__pycache__") if path.parts[-2] in ("lib", "http", "dns", "tcp", *PACKS)]
