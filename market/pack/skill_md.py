"""SKILL.md: what the front matter's fields mean. Unknown fields are kept; the text itself is read by models, never executed."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.errors import Severity
from market.model import NO_ACTIVATION, Activation, Scope, SkillClass, Tool
from market.pack.classes import parse_class, strictest
from market.pack.front_matter import FrontMatter, parse_front_matter
from market.pack.guide_name import choose_name
from market.pack.guide_native import read_activation, read_scope, read_when_to_use
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.errors import Problem

MAX_DESCRIPTION_CHARACTERS = 1024
MAX_BORROWED_CHARACTERS = 300
OPENCLAW_MAX_BYTES = 256_000
MARKER_DIGITS = 12

_TRUE = frozenset({"true", "yes", "on", "1"})
_HIDE_FIELDS = ("disable-model-invocation", "disableModelInvocation", "disable_model_invocation")


@dataclass(frozen=True, slots=True)
class GuideManifest:
    """What a SKILL.md says. With an error among `problems` its values mean nothing."""

    file: str
    front_matter: FrontMatter
    name: str = ""
    description: str = ""
    version: str = ""
    version_place: tuple[int, int] = (0, 0)
    marker: str = ""
    disable_model_invocation: bool = False
    skill_class: SkillClass = SkillClass.SAFE
    tools: tuple[Tool, ...] = ()
    activation: Activation = NO_ACTIVATION
    when_to_use: str = ""
    scope: Scope = Scope.MANAGER
    problems: tuple[Problem, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether the skill can't be loaded."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def parse_skill_md(
    data: bytes, file: str = "SKILL.md", *, folder_name: str = "", fallback_name: str = ""
) -> GuideManifest:
    """Parse a SKILL.md. It should be named as its folder; `fallback_name` is taken where it has no name. Empty: there is none."""
    matter = parse_front_matter(data, file)
    if matter.is_broken:
        return GuideManifest(file, matter, problems=matter.problems)
    problems = list(matter.problems)
    if len(data) > OPENCLAW_MAX_BYTES:
        problems.append(make_problem("file-large", f"{file} has {len(data):,} bytes", file))
    name, name_problems = choose_name(matter, file, folder_name, fallback_name or folder_name)
    description, description_problems = _choose_description(matter, file)
    version, version_place = _read_version(matter)
    tools = list(_read_tools(matter, file))
    activation, activation_problems = read_activation(matter, file)
    problems.extend((*name_problems, *description_problems, *activation_problems))
    problems.extend(problem for _, problem in tools if problem)
    return GuideManifest(
        file,
        matter,
        name=name,
        description=description,
        version=version,
        version_place=version_place,
        marker=hashlib.sha256(data).hexdigest()[:MARKER_DIGITS],
        disable_model_invocation=any(_is_true(matter.fields.get(field)) for field in _HIDE_FIELDS),
        skill_class=_strictest_of([tool.skill_class for tool, _ in tools if tool]),
        tools=tuple(tool for tool, _ in tools if tool),
        activation=activation,
        when_to_use=read_when_to_use(matter),
        scope=read_scope(matter),
        problems=tuple(problems),
    )


def _choose_description(matter: FrontMatter, file: str) -> tuple[str, list[Problem]]:
    value = matter.fields.get("description")
    place = matter.places.get(("description",), (1, 1))
    problems: list[Problem] = []
    if value is not None and not isinstance(value, str):
        problems.append(
            make_problem("field-shape", "'description' is not a text", file, place, fix="put the description in quotes")
        )
        value = json.dumps(value, ensure_ascii=False)
    text = (value or "").strip()
    if not text:
        text = _first_paragraph(matter.body)
        rule = "guide-description-borrowed" if text else "guide-description-missing"
        problems.append(
            make_problem(
                rule,
                "'description' is empty" if "description" in matter.fields else "'description' is missing",
                file,
                place,
            )
        )
    elif len(text) > MAX_DESCRIPTION_CHARACTERS:
        problems.append(
            make_problem("guide-description-long", f"the description has {len(text):,} characters", file, place)
        )
    return text, problems


def _first_paragraph(body: str) -> str:
    """Return the first paragraph that is no heading, as Claude Code does for files without a description."""
    for block in re.split(r"\n[ \t]*\n", body[:20_000]):
        text = " ".join(line.strip() for line in block.strip().split("\n") if not line.lstrip().startswith("#"))
        if text.strip():
            return text.strip()[:MAX_BORROWED_CHARACTERS]
    return ""


def _read_version(matter: FrontMatter) -> tuple[str, tuple[int, int]]:
    metadata = matter.fields.get("metadata")
    in_metadata = metadata.get("version") if isinstance(metadata, dict) else None
    for value, path in ((in_metadata, ("metadata", "version")), (matter.fields.get("version"), ("version",))):
        if isinstance(value, str) and value:
            return value, matter.places.get(path, (0, 0))
    return "", (0, 0)


def _read_tools(matter: FrontMatter, file: str) -> Iterator[tuple[Tool | None, Problem | None]]:
    """Yield each declared tool. Claude Code uses `tools` as a list of names, which have no class here."""
    tools = matter.fields.get("tools")
    for number, item in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(item, dict):
            continue
        text = str(item.get("class") or "read")
        skill_class, _ = parse_class(text)
        problem = None
        if skill_class is None:
            place = matter.places.get(("tools", number, "class"), (1, 1))
            problem = make_problem("guide-tool-class", f"the class {text[:80]!r} of a tool doesn't exist", file, place)
            skill_class = SkillClass.DANGEROUS
        yield Tool(_text(item, "name"), _text(item, "impl"), skill_class, _text(item, "description")), problem


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _strictest_of(classes: list[SkillClass]) -> SkillClass:
    result = SkillClass.SAFE
    for skill_class in classes:
        result = strictest(result, skill_class)
    return result


def _is_true(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in _TRUE
