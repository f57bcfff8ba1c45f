"""sample-packs/bad: one fault per folder, named by its rule. Each fires exactly that rule, at exactly that place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from market.errors import Severity
from market.pack.inspect import Inspection, inspect_pack
from market.pack.review import review_pack
from market.pack.rules import RULES
from market.pack.rules_manifest import GUIDE_RULES, PACK_RULES, SKILL_JSON_RULES, TEXT_RULES
from market.pack.rules_review import REVIEW_RULES
from tests.factories import SAMPLE_PACKS, a_source_of

if TYPE_CHECKING:
    from pathlib import Path

    from market.errors import Problem

BAD = SAMPLE_PACKS / "bad"

PLACES = (
    ("class-alias", "skill.json", 5, 12),
    ("class-invalid", "skill.json", 5, 12),
    ("class-missing", "skill.json", 1, 1),
    ("command-foreign", "skill.json", 1, 1),
    ("entry-absolute", "skill.json", 6, 12),
    ("entry-arguments", "skill.json", 6, 12),
    ("entry-escapes", "skill.json", 6, 12),
    ("entry-folder", "skill.json", 6, 12),
    ("entry-line-ends", "run.sh", 1, 10),
    ("entry-missing", "skill.json", 6, 12),
    ("entry-no-interpreter", "run.sh", 1, 1),
    ("entry-not-executable", "run.sh", 0, 0),
    ("entry-python", "skill.json", 6, 12),
    ("environment-loader", "skill.json", 9, 5),
    ("environment-name", "skill.json", 9, 5),
    ("field-missing", "skill.json", 1, 1),
    ("field-near", "skill.json", 7, 3),
    ("field-shape", "SKILL.md", 3, 14),
    ("field-type", "skill.json", 7, 15),
    ("front-matter-late", "SKILL.md", 2, 1),
    ("front-matter-missing", "SKILL.md", 1, 1),
    ("front-matter-unclosed", "SKILL.md", 5, 1),
    ("guide-description-borrowed", "SKILL.md", 1, 1),
    ("guide-description-long", "SKILL.md", 3, 14),
    ("guide-description-missing", "SKILL.md", 1, 1),
    ("guide-name-folder", "SKILL.md", 2, 7),
    ("guide-name-invalid", "SKILL.md", 2, 7),
    ("guide-name-missing", "SKILL.md", 1, 1),
    ("guide-name-style", "SKILL.md", 2, 7),
    ("guide-activation", "SKILL.md", 5, 9),
    ("guide-tool-class", "SKILL.md", 7, 12),
    ("json-constant", "skill.json", 3, 22),
    ("json-deep", "skill.json", 1, 1),
    ("json-duplicate-key", "skill.json", 7, 3),
    ("json-not-object", "skill.json", 1, 1),
    ("json-surrogate", "skill.json", 3, 24),
    ("json-syntax", "skill.json", 4, 1),
    ("manifest-conflict", "SKILL.md", 5, 12),
    ("manifest-case", "skills/two/skill.md", 0, 0),
    ("manifest-folder", "skills/two/SKILL.md", 0, 0),
    ("manifest-near", "skills/two/SKILLS.md", 0, 0),
    ("pack-empty", "", 0, 0),
    ("pack-field-unknown", "pack.yaml", 4, 9),
    ("pack-manifest", "pack.yaml", 5, 5),
    ("pack-name", "pack.yaml", 1, 7),
    ("python-project", "pyproject.toml", 5, 1),
    ("schema-invalid", "skill.json", 11, 17),
    ("schema-not-arguments", "skill.json", 8, 13),
    ("schema-type", "skill.json", 7, 13),
    ("skill-duplicate", "skills/one/SKILL.md", 0, 0),
    ("skill-name", "skill.json", 2, 11),
    ("skill-nested", "skills/one/examples/two/SKILL.md", 0, 0),
    ("skills-path", "pack.yaml", 5, 3),
    ("text-encoding", "SKILL.md", 3, 17),
    ("timeout-invalid", "skill.json", 7, 22),
    ("version-invalid", "pack.yaml", 2, 10),
    ("version-missing", "SKILL.md", 1, 1),
    ("yaml-cut", "SKILL.md", 3, 42),
    ("yaml-duplicate-key", "SKILL.md", 4, 1),
    ("yaml-key", "SKILL.md", 4, 3),
    ("yaml-not-mapping", "SKILL.md", 2, 1),
    ("yaml-repaired", "SKILL.md", 3, 47),
    ("yaml-size", "SKILL.md", 2, 1),
    ("yaml-syntax", "SKILL.md", 3, 14),
    ("yaml-tag", "SKILL.md", 4, 9),
    ("description-when", "SKILL.md", 3, 14),
    ("download-run", "SKILL.md", 8, 6),
    ("file-named-absent", "SKILL.md", 8, 6),
    ("guide-body-long", "SKILL.md", 0, 0),
    ("guide-field-list", "SKILL.md", 4, 1),
    ("hidden-text", "SKILL.md", 8, 38),
    ("junk-file", "notes.md~", 0, 0),
    ("guide-field-unknown", "SKILL.md", 4, 1),
    (
        "path-length",
        "references/formats-of-dates-in-many-countries/formats-of-dates-in-many-countries/and-what-people-there-understand.md",
        0,
        0,
    ),
    ("script-line-ends", "scripts/count.sh", 1, 10),
    ("text-reordered", "SKILL.md", 8, 19),
)

# Rules whose breach a folder can't hold everywhere (names), or that need a caller, a large file or a secret: tested in
# test_inspect.py, test_review.py and test_secrets.py.
ELSEWHERE = frozenset(
    {"file-too-large", "file-large", "name-overridden", "version-overridden"}
    | {"secret", "scan-limit", "path-windows", "prompt-budget", "skill-large"}
)


def judge(folder: Path) -> tuple[Inspection, tuple[Problem, ...]]:
    """What `market check` says of a folder: the inspection and the review."""
    source = a_source_of(folder)
    inspection = inspect_pack(source)
    reviewed = review_pack(source, inspection.pack) if inspection.pack else ()
    return inspection, (*inspection.problems, *reviewed)


@pytest.mark.parametrize(("rule", "file", "line", "column"), PLACES, ids=[row[0] for row in PLACES])
def test_bad_pack_breaks_its_rule_and_no_other(rule: str, file: str, line: int, column: int) -> None:
    _, problems = judge(BAD / rule)
    assert [problem.rule for problem in problems] == [rule]
    problem = problems[0]
    assert (problem.file, problem.line, problem.column) == (file, line, column)
    assert problem.text
    assert problem.reason
    assert problem.fix
    assert problem.severity is RULES[rule].severity


def test_every_bad_folder_is_in_the_table() -> None:
    assert sorted(path.name for path in BAD.iterdir() if path.is_dir()) == sorted(row[0] for row in PLACES)


def test_every_rule_about_manifests_has_a_bad_pack() -> None:
    tables = (TEXT_RULES, PACK_RULES, GUIDE_RULES, SKILL_JSON_RULES, REVIEW_RULES)
    assert {rule for table in tables for rule, *_ in table} - ELSEWHERE == {row[0] for row in PLACES}


@pytest.mark.parametrize("rule", [row[0] for row in PLACES if RULES[row[0]].severity is not Severity.ERROR])
def test_what_is_no_error_still_loads(rule: str) -> None:
    inspection = inspect_pack(a_source_of(BAD / rule))
    assert inspection.pack is not None
    assert inspection.pack.skills
