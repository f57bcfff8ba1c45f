"""The skills as functions, with the arguments that the host would fill in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import skills_text_tools
from market.pack.inspect import inspect_pack
from market.pack.source import MemorySource
from market.run.args import fill_args
from skills_text_tools.json_diff import json_diff
from skills_text_tools.plugin import market_skills
from skills_text_tools.redact_secrets import redact_secrets
from skills_text_tools.regex_test import MAX_MATCHES, regex_test
from skills_text_tools.table_to_csv import table_to_csv

TOP = Path(skills_text_tools.__file__).parent


def filled(skill: str, **given: Any) -> dict[str, Any]:
    """The arguments as the host passes them on: validated, with the defaults of the skill's own schema."""
    schema = json.loads((TOP / skill / "skill.json").read_text())["schema"]
    values: dict[str, Any] = fill_args(schema, given)
    return values


def test_every_folder_with_a_manifest_is_named_and_has_its_function() -> None:
    assert set(market_skills()) == {path.parent.name for path in TOP.rglob("skill.json")}
    for name in market_skills():
        manifest = json.loads((TOP / name / "skill.json").read_text())
        assert (manifest["name"], manifest["entry"]) == (name, f"python:skills_text_tools.{name}:{name}")


@pytest.mark.parametrize(
    ("before", "after", "differences"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": 2}, {"a": 2, "c": 3},
         [{"path": "/a", "change": "changed", "before": 1, "after": 2}, {"path": "/b", "change": "removed", "before": 2},
          {"path": "/c", "change": "added", "after": 3}]),
        ({"x": [1, 2, 3]}, {"x": [1, 9]},
         [{"path": "/x/1", "change": "changed", "before": 2, "after": 9}, {"path": "/x/2", "change": "removed", "before": 3}]),
        ({"a/b": {"~": None}}, {"a/b": {"~": False}}, [{"path": "/a~1b/~0", "change": "changed", "before": None, "after": False}]),
        (1, True, [{"path": "", "change": "changed", "before": 1, "after": True}]),
        ([], {}, [{"path": "", "change": "changed", "before": [], "after": {}}]),
    ],
)  # fmt: skip
def test_json_diff(before: Any, after: Any, differences: list[dict[str, Any]]) -> None:
    found = json_diff(filled("json_diff", before=before, after=after))
    assert (found["differences"], found["same"], found["count"]) == (differences, not differences, len(differences))


def test_a_long_diff_is_cut_and_counted() -> None:
    found = json_diff({"before": [], "after": list(range(2000))})
    assert (len(found["differences"]), found["count"], found["truncated"]) == (1000, 2000, True)


MARKDOWN = "Text\n\n| name | size |\n|---|---:|\n| a, b | 1 |\n| `c` | **2** |\n\n| other |\n|---|\n| x |\n"
HTML = "<table><tr><th>name<th>size</tr><tr><td>a &amp; b<br>c</td><td>1</td></tr></table>"


def test_table_to_csv_reads_markdown_and_html() -> None:
    first = table_to_csv(filled("table_to_csv", text=MARKDOWN))
    assert first == {"csv": 'name,size\n"a, b",1\nc,2\n', "rows": 3, "columns": 2, "tables": 2}
    assert table_to_csv(filled("table_to_csv", text=MARKDOWN, number=2))["csv"] == "other\nx\n"
    assert table_to_csv(filled("table_to_csv", text=HTML, delimiter=";"))["csv"] == 'name;size\n"a & b\nc";1\n'


def test_a_table_that_isn_t_there_is_an_error_with_the_count() -> None:
    with pytest.raises(ValueError, match="there is no table 3: the text has 2"):
        table_to_csv(filled("table_to_csv", text=MARKDOWN, number=3))
    with pytest.raises(ValueError, match="the text has 0"):
        table_to_csv(filled("table_to_csv", text="no table"))


TOKEN = "ghp_" + "q8Zr4Kd0VbN1mXw7Lc3Ty6Ho2Sj9Pf5GuEaI"


@pytest.mark.parametrize(
    ("text", "kind", "left"),
    [
        (f"export T={TOKEN} # mine", "GitHub token", "export T=[redacted] # mine"),
        ("url: postgres://me:hunter22@db/x", "password in an address", "url: postgres://me:[redacted]@db/x"),
        ('"password": "correct horse"', "password", '"password": "[redacted] horse"'),
        ("Authorization: Bearer abcdefgh12345", "bearer token", "Authorization: Bearer [redacted]"),
        (
            "-----BEGIN RSA PRIVATE " + "KEY-----\nMII\n-----END RSA PRIVATE " + "KEY-----\n",
            "private key",
            "[redacted]\n",
        ),
        ("key AKIA" + "ABCDEFGHIJKLMNOP", "AWS access key", "key [redacted]"),
    ],
)
def test_redact_secrets(text: str, kind: str, left: str) -> None:
    found = redact_secrets(filled("redact_secrets", text=text))
    assert (found["text"], found["found"]) == (left, [{"kind": kind, "line": 1}])


def test_what_is_no_secret_stays_and_lines_are_counted() -> None:
    plain = "the token is optional\nhttps://example.org:443/x\n"
    assert redact_secrets(filled("redact_secrets", text=plain))["text"] == plain
    found = redact_secrets(filled("redact_secrets", text=f"{plain}x\n{TOKEN}\n", replacement="***"))
    assert (found["text"], found["found"]) == (f"{plain}x\n***\n", [{"kind": "GitHub token", "line": 4}])


def test_regex_test_gives_matches_with_groups_and_places() -> None:
    found = regex_test(filled("regex_test", pattern=r"(?P<letter>[a-z])(\d)?", text="A1 b22", flags=["ignore_case"]))
    assert [(one["text"], one["start"], one["groups"], one["named"]) for one in found["matches"]] == [
        ("A1", 0, ["A", "1"], {"letter": "A"}),
        ("b2", 3, ["b", "2"], {"letter": "b"}),
    ]
    assert (found["valid"], found["groups"], found["count"], found["truncated"]) == (True, 2, 2, False)
    assert regex_test(filled("regex_test", pattern="(x)?y", text="y"))["matches"][0]["groups"] == [None]


def test_a_pattern_that_can_t_be_read_is_an_answer() -> None:
    found = regex_test(filled("regex_test", pattern="a(b", text=""))
    assert (found["valid"], found["error"], found["position"]) == (False, "missing ), unterminated subpattern", 1)


def test_many_matches_are_cut() -> None:
    found = regex_test(filled("regex_test", pattern="x", text="x" * 1000))
    assert (found["count"], found["truncated"]) == (MAX_MATCHES, True)


def test_the_manifests_have_no_problem_but_that_this_folder_is_no_wheel() -> None:
    files = {
        path.relative_to(TOP).as_posix(): path.read_bytes()
        for path in TOP.rglob("*")
        if path.suffix in (".json", ".py")
    }
    inspection = inspect_pack(MemorySource(files, name="skills-text-tools"))
    assert {problem.rule for problem in inspection.problems} == {"entry-python", "version-missing"}
    assert inspection.pack is not None
    assert inspection.pack.skills == ()
