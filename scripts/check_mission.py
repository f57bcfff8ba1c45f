"""Fail unless every mission row stands in docs/mission.md and each test named there ran and passed in the given JUnit reports."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROWS = (
    [f"A{n}" for n in range(1, 20)]
    + [f"B{n}" for n in range(1, 7)]
    + [f"C{n}" for n in range(1, 8)]
    + ["D1", "D2"]
    + [f"E{n}" for n in range(1, 11)]
    + [f"F{n}" for n in range(1, 8)]
)
STATES = ("works", "partly", "not yet")
ROW = re.compile(r"^\| (?P<id>[A-F]\d+) \|(?P<rule>[^|]*)\| (?P<state>[^|]*?) \| (?P<tests>[^|]*?) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/.-]+\.py)::(\w+)`")


def passed_tests(reports: list[Path]) -> set[tuple[str, str]]:
    """Return (file, function) of every test of which all cases passed."""
    good: set[tuple[str, str]] = set()
    bad: set[tuple[str, str]] = set()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            file = case.get("classname", "").replace(".", "/") + ".py"
            key = (file, re.sub(r"\[.*", "", case.get("name", ""), flags=re.DOTALL))
            (bad if any(child.tag in ("failure", "error", "skipped") for child in case) else good).add(key)
    return good - bad


def faults(page: str, passed: set[tuple[str, str]]) -> list[str]:
    """Return what is wrong with the page, a sentence each."""
    found = {match["id"]: match for match in ROW.finditer(page)}
    sentences = [f"row {row} is missing" for row in ROWS if row not in found]
    for row, match in found.items():
        tests = TEST.findall(match["tests"])
        if match["state"] not in STATES:
            sentences.append(f"row {row}: state {match['state']!r} is not one of {', '.join(STATES)}")
        if match["state"] != "not yet" and not tests:
            sentences.append(f"row {row}: says {match['state']!r} and names no test")
        sentences += [
            f"row {row}: {file}::{name} did not run and pass" for file, name in tests if (file, name) not in passed
        ]
    return sentences


def main() -> int:
    """Print the faults and return the exit code."""
    page, *reports = (Path(argument) for argument in sys.argv[1:])
    sentences = faults(page.read_text(encoding="utf-8"), passed_tests(reports))
    for sentence in sentences:
        print(f"{page}: {sentence}", file=sys.stderr)
    if not sentences:
        print(f"{page}: {len(ROWS)} rows, every named test ran and passed")
    return 1 if sentences else 0


if __name__ == "__main__":
    raise SystemExit(main())
