"""Every hazard, once: refused whole by its rule, and what other programs do with it is what `hazards.json` says (docs/pack-format.md)."""

from __future__ import annotations

import io
from collections import Counter

import pytest

from market.errors import Severity, Untrusted
from market.pack.archive_read import read_archive
from market.pack.record import make_record
from market.pack.rules import RULES
from tests.pack.hazards import (
    ALL,
    FOREIGN,
    IMPORTS,
    STRICT,
    TOOLS,
    Hazard,
    ask_importer,
    ask_tool,
    load_table,
    version_of,
)

pytestmark = pytest.mark.flow

TABLE = load_table()
VERSIONS = TABLE["versions"]["tools"]

# What the strict reader refuses as not canonical, and the importer may take: wrapping and names, never structure.
MAPPED = {
    "archive-comment", "archive-compressed", "archive-extra", "archive-header", "archive-mismatch", "archive-mode", "archive-order", "archive-too-many",
    "path-forbidden", "path-normal-form", "path-parts",
}  # fmt: skip


@pytest.mark.parametrize("hazard", ALL, ids=lambda hazard: hazard.id)
def test_hazard(hazard: Hazard) -> None:
    archive = hazard.make()
    expected = TABLE["hazards"][hazard.id]
    with pytest.raises(Untrusted) as caught:
        make_record(read_archive(io.BytesIO(archive)))
    if hazard in STRICT:
        assert hazard.rule in {problem.rule for problem in caught.value.problems}
    found = ask_importer(archive)
    assert found == expected["importer"]
    assert found == hazard.rule if hazard in FOREIGN else found != IMPORTS or hazard.rule in MAPPED
    for tool, act in TOOLS[hazard.form].items():
        if tool in expected and VERSIONS[tool] == version_of(tool):
            assert ask_tool(act, archive) == expected[tool], tool


def test_every_rule_about_archives_has_a_hazard() -> None:
    prefixes = ("archive-", "path-", "tar-", "gzip-")
    wanted = {name for name, rule in RULES.items() if name.startswith(prefixes) and rule.severity is Severity.ERROR}
    assert wanted == {hazard.rule for hazard in ALL}


def test_every_hazard_is_in_the_table_and_has_a_name_of_its_own() -> None:
    assert Counter(hazard.id for hazard in ALL) == Counter(list(TABLE["hazards"]))


def test_what_others_take_is_why_we_have_rules() -> None:
    taken = Counter(
        tool for row in TABLE["hazards"].values() for tool, verdict in row.items() if verdict in ("takes", "escapes")
    )
    assert {"zipfile", "unzip", "bsdtar", "tarfile", "tar"} <= taken.keys()
    # The chain of links that leaves the destination of tarfile's own filter, on the Python that the table was made with.
    assert TABLE["hazards"]["tar: chain past PATH_MAX"]["importer"] == "archive-link"
