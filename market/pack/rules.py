"""The closed table of rules: every `Problem` in a pack is made here, so that id, severity, reason and fix are the same everywhere.

What breaks a rule is found elsewhere, in the module that reads the thing.
"""

from __future__ import annotations

from dataclasses import dataclass

from market.errors import Problem, Severity
from market.pack.rules_archive import ARCHIVE_RULES, PATH_RULES
from market.pack.rules_manifest import GUIDE_RULES, PACK_RULES, SKILL_JSON_RULES, TEXT_RULES
from market.pack.rules_review import REVIEW_RULES
from market.pack.rules_wheel import WHEEL_RULES


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `sentence` is the reason that a reader gets, `fix` what to do when the finder knows nothing more exact."""

    id: str
    severity: Severity
    sentence: str
    fix: str


def _make_table() -> dict[str, Rule]:
    rows = (
        *PATH_RULES,
        *ARCHIVE_RULES,
        *TEXT_RULES,
        *PACK_RULES,
        *GUIDE_RULES,
        *SKILL_JSON_RULES,
        *REVIEW_RULES,
        *WHEEL_RULES,
    )
    table = {rule_id: Rule(rule_id, Severity(severity), sentence, fix) for rule_id, severity, sentence, fix in rows}
    if len(table) != len(rows):
        raise AssertionError("a rule id stands twice in the table")
    return table


RULES = _make_table()

# A refusal that only says "not from this machine to another": the registry may load it, an archive can't carry it.
NOT_PORTABLE = frozenset({"entry-absolute"})


def make_problem(
    rule_id: str, text: str, file: str = "", place: tuple[int, int] = (0, 0), *, reason: str = "", fix: str = ""
) -> Problem:
    """Make a problem of a rule in the table; `place` is line and column from 1, zeros where the whole file is meant.

    What comes from the pack is made printable, so that no pack can write control sequences to somebody's terminal.
    """
    rule = RULES[rule_id]
    line, column = place
    shown = (_make_printable(text), _make_printable(file), line, column, _make_printable(reason or rule.sentence))
    return Problem(rule.id, rule.severity, *shown, _make_printable(fix or rule.fix))


def _make_printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
