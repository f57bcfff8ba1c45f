"""SARIF 2.1.0, as its schema wants it: every result names a rule of the run, a level and a relative place."""

from __future__ import annotations

import json
from urllib.parse import unquote

from market.errors import Problem, Severity
from market.pack.rules import make_problem
from market.pack.sarif import dump_sarif


def test_a_run_over_several_packs() -> None:
    first = make_problem("json-syntax", "it's broken", "skill.json", (3, 7))
    second = make_problem("version-missing", "no version")
    other = Problem("folder-link", Severity.WARNING, "links to 'x'", "a b/ü?.md", reason="packs hold no links")
    document = dump_sarif([("./packs/one", [first, second]), ("/abs/two.zip", [first, other])], "1.2")
    assert json.loads(json.dumps(document)) == document
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("market check", "1.2")
    assert [rule["id"] for rule in driver["rules"]] == ["json-syntax", "version-missing", "folder-link"]
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning") and result["message"]["text"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place["artifactLocation"]["uri"] for place in places[:3]] == [
        "packs/one/skill.json",
        "packs/one",
        "/abs/two.zip/skill.json",
    ]
    assert (
        unquote(places[3]["artifactLocation"]["uri"]) == "/abs/two.zip/a b/ü?.md"
        and "?" not in places[3]["artifactLocation"]["uri"]
    )
    assert places[0]["region"] == {"startLine": 3, "startColumn": 7} and "region" not in places[1]


def test_nothing_wrong_is_an_empty_run() -> None:
    (run,) = dump_sarif([("p", [])], "1")["runs"]
    assert run["results"] == [] and run["tool"]["driver"]["rules"] == []
