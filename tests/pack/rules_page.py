"""Writes docs/rules.md from the tables of rules and the examples in `rule_proofs.py`: `python -m tests.pack.rules_page`."""

from __future__ import annotations

from pathlib import Path

from market.disk.folder_rules import FOLDER_RULES
from market.pack.rules_archive import ARCHIVE_RULES, PATH_RULES
from market.pack.rules_manifest import GUIDE_RULES, PACK_RULES, SKILL_JSON_RULES, TEXT_RULES
from market.pack.rules_review import REVIEW_RULES
from market.pack.rules_wheel import WHEEL_RULES
from tests.pack.rule_proofs import proofs

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"

HEAD = """# Rules

Every problem that `market check`, publish, the index, install and a host name has one of these rules. An **error** stops the skill, and archive, publish and
install of its pack; a **refusal** stops publishing; a **warning** stops nothing. `market check PATH --json` gives a problem with its place and, where it is
known, with a more exact correction than the one here. `sample-packs/bad` has a small pack for each rule about manifests.

This page is written from the tables in the code, and a test holds both together and breaks each rule: `python -m tests.pack.rules_page` writes it again.
"""

Row = tuple[str, str, str, str]
# A rule of the disk has its sentence ("what is said") before the reason.
_FOLDER_ROWS: tuple[Row, ...] = tuple(
    (rule, str(severity), why, fix) for rule, (severity, _, why, fix) in FOLDER_RULES.items()
)
SECTIONS: tuple[tuple[str, tuple[Row, ...]], ...] = (
    ("The text of manifests", TEXT_RULES),
    ("Packs", PACK_RULES),
    ("SKILL.md", GUIDE_RULES),
    ("skill.json", SKILL_JSON_RULES),
    ("Before a pack is given away", REVIEW_RULES),
    ("Folders", _FOLDER_ROWS),
    ("Names of files", PATH_RULES),
    ("Archives and what an import changes", ARCHIVE_RULES),
    ("Wheels", WHEEL_RULES),
)


def make_page() -> str:
    """Return the page's text."""
    found = proofs()
    parts = [HEAD]
    for title, rows in SECTIONS:
        parts.append(f"\n## {title}\n\n| rule | severity | why | example | what to do |\n|---|---|---|---|---|\n")
        parts += [
            f"| `{rule}` | {severity} | {_cell(why)} | {found[rule].example} | {_cell(fix)} |\n"
            for rule, severity, why, fix in rows
        ]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(make_page(), encoding="utf-8")
