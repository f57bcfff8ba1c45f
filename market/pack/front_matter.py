"""The head and body of a SKILL.md: fences, fields with their places, and the text below.

What the fields mean is in `market.pack.skill_md`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from market.errors import Severity
from market.pack.rules import make_problem
from market.pack.text import parse_text
from market.pack.yaml_repair import Repair, propose_line, quote_text, repair_yaml
from market.pack.yaml_text import Path, Place, YamlFault, YamlText, parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.errors import Problem

MAX_REPAIRS_TOLD = 20  # of one file; the last says how many more there are

# Fields whose text is prose: a ' #' in them is hardly ever meant as a comment.
PROSE_FIELDS = ("description", "summary", "when_to_use", "compatibility")

_OPENING = re.compile(r"(?P<before>\s*)---[ \t]*\n")
_CLOSING = re.compile(r"^---[ \t]*$", re.MULTILINE)
_FIELD_LINES = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]*:.*\n?|[ \t]+\S.*\n?)+")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of a SKILL.md, all scalars as text, and its body. `places` maps a field's path to its value's line and column."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    problems: tuple[Problem, ...] = ()
    places: Mapping[Path, Place] = field(default_factory=dict)

    @property
    def is_broken(self) -> bool:
        """Whether the fields can't be trusted."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


@dataclass(frozen=True, slots=True)
class Cut:
    """The head's text, the line of the file that it starts on, and the body."""

    head: str
    first_line: int
    body: str
    problems: tuple[Problem, ...] = ()


def parse_front_matter(data: bytes, file: str = "SKILL.md") -> FrontMatter:
    """Parse a SKILL.md. What strict readers drop but Claude Code or OpenClaw load is read with a warning; nothing is lost silently."""
    text = parse_text(data, file)
    if text.problems:
        return FrontMatter(problems=text.problems)
    cut = cut_head(text.text, file)
    if isinstance(cut, tuple):
        return FrontMatter(problems=cut)
    yaml, repairs = _parse_head(cut, file)
    problems = [*cut.problems, *repairs, *yaml.problems]
    value = {} if yaml.value is None else yaml.value
    if not isinstance(value, dict):
        problems.append(make_problem("yaml-not-mapping", "the front matter holds no fields", file, (cut.first_line, 1)))
        return FrontMatter({}, cut.body, tuple(problems))
    problems.extend(_find_cut_prose(cut, yaml, file) if not repairs else ())
    return FrontMatter(value, cut.body, tuple(problems), yaml.places)


def cut_head(text: str, file: str) -> Cut | tuple[Problem, ...]:
    """Find the fences in a file's text; the problems alone where there is no front matter."""
    opening = _OPENING.match(text)
    if opening is None:
        what = (
            f"{file} is empty"
            if not text.strip()
            else f"{file} starts with {text.strip().splitlines()[0][:40]!r}, not with ---"
        )
        return (make_problem("front-matter-missing", what, file, (1, 1)),)
    first_line = opening["before"].count("\n") + 2
    late = (
        (make_problem("front-matter-late", "something stands before the first ---", file, (first_line - 1, 1)),)
        if opening["before"]
        else ()
    )
    closing = _CLOSING.search(text, opening.end())
    if closing is not None:
        return Cut(text[opening.end() : closing.start()], first_line, text[closing.end() :].lstrip("\n"), late)
    return _cut_unclosed(text, opening.end(), first_line, file, late)


def _cut_unclosed(
    text: str, start: int, first_line: int, file: str, problems: tuple[Problem, ...]
) -> Cut | tuple[Problem, ...]:
    """Take the field lines after an opening fence that is never closed; without any there is no front matter."""
    lines = _FIELD_LINES.match(text, start)
    if lines is None:
        return (
            make_problem(
                "front-matter-missing", "the front matter has no closing --- and no fields", file, (first_line, 1)
            ),
        )
    last = first_line + lines[0].rstrip("\n").count("\n")
    warning = make_problem(
        "front-matter-unclosed",
        f"the front matter has no closing ---; the fields up to line {last} were taken",
        file,
        (last, 1),
    )
    return Cut(lines[0], first_line, text[lines.end() :].lstrip("\n"), (*problems, warning))


def _parse_head(cut: Cut, file: str) -> tuple[YamlText, tuple[Problem, ...]]:
    try:
        return parse_yaml(cut.head, file, cut.first_line), ()
    except YamlFault as fault:
        repaired, repairs = repair_yaml(cut.head)
        first = fault
    try:
        yaml = parse_yaml(repaired, file, cut.first_line) if repairs else None
    except YamlFault:
        yaml = None
    if yaml is None:
        return YamlText(None), (_broken(first, cut, file),)
    return yaml, tuple(_tell_repairs(repairs, first, cut, file))


def _tell_repairs(repairs: tuple[Repair, ...], first: YamlFault, cut: Cut, file: str) -> Iterator[Problem]:
    """Warn of each repaired line; the first carries the place at which the parser gave up."""
    left_out = len(repairs) - MAX_REPAIRS_TOLD
    for number, repair in enumerate(repairs[:MAX_REPAIRS_TOLD], 1):
        line = repair.line + cut.first_line - 1
        place = first.place if first.place[0] == line else (line, repair.column)
        text = f"{repair.key!r} is not YAML ({first.text}); its full text was kept"
        more = f", and {left_out:,} more lines" if left_out > 0 and number == MAX_REPAIRS_TOLD else ""
        yield make_problem("yaml-repaired", text + more, file, place, fix=f"write: {repair.corrected.strip()}")


def _broken(fault: YamlFault, cut: Cut, file: str) -> Problem:
    lines = cut.head.split("\n")
    number = min(max(fault.place[0] - cut.first_line, 0), len(lines) - 1)
    line, place = lines[number], fault.place
    if not line.strip():  # the parser noticed at the end; the cause is the last line with text
        number = max((index for index in range(number + 1) if lines[index].strip()), default=0)
        line, place = lines[number], (number + cut.first_line, len(lines[number]))
    proposal = propose_line(line)
    return make_problem(
        "yaml-syntax",
        f"{fault.text}: {line.strip()[:120]!r}",
        file,
        place,
        fix=f"write: {proposal.strip()}" if proposal else "",
    )


def _find_cut_prose(cut: Cut, yaml: YamlText, file: str) -> Iterator[Problem]:
    """Warn of prose that a ' #' cut: YAML calls the rest a comment."""
    if " #" not in cut.head:
        return
    lines = cut.head.split("\n")
    for key in PROSE_FIELDS:
        if (key,) not in yaml.places or not isinstance(yaml.value[key], str):
            continue
        line, column = yaml.places[(key,)]
        raw = lines[line - cut.first_line][column - 1 :]
        hash_at = raw.find(" #")
        if hash_at >= 0 and raw[0] not in "\"'|>":
            corrected = f"{key}: {quote_text(raw.rstrip())}"
            text = f"{key!r} ends at {raw[:hash_at][-40:]!r}; {raw[hash_at + 1 :][:80]!r} is lost"
            yield make_problem("yaml-cut", text, file, (line, column + hash_at + 1), fix=f"write: {corrected}")
