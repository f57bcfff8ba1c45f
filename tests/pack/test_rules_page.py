"""docs/rules.md says what the tables say, and every rule on it can be broken."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from market.disk.folder_rules import FOLDER_RULES
from market.pack.rules import RULES
from tests.pack.rule_proofs import Proof, proofs
from tests.pack.rules_page import PAGE, SECTIONS, make_page

if TYPE_CHECKING:
    from pathlib import Path

PROOFS = proofs()


def test_every_rule_has_a_proof_and_a_row() -> None:
    assert PROOFS.keys() == {*RULES, *FOLDER_RULES}, "add what breaks a new rule to tests/pack/rule_proofs.py"
    assert sorted(rule for _, rows in SECTIONS for rule, *_ in rows) == sorted(PROOFS)


def test_the_page_is_the_one_that_the_tables_give() -> None:
    assert PAGE.read_text(encoding="utf-8") == make_page(), "write it again with `python -m tests.pack.rules_page`"


@pytest.mark.parametrize(("rule", "proof"), PROOFS.items(), ids=list(PROOFS))
def test_every_rule_on_the_page_can_be_broken(rule: str, proof: Proof, tmp_path: Path) -> None:
    if rule == "folder-unreadable" and os.geteuid() == 0:
        pytest.skip("the super-user may read everything")
    assert rule in proof.fire(tmp_path)
