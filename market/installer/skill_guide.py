"""The SKILL.md of a skill that has none: it tells a program that knows no skill.json how to call it. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from market.model import SkillClass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from market.model import Skill
    from market.names import PackName, Version

MAX_DESCRIPTION_CHARACTERS = 1024  # of the Agent Skills specification
MAX_SCHEMA_CHARACTERS = 20_000

_CLASSES = {
    SkillClass.SAFE: "It only reads.",
    SkillClass.MUTATING: "It creates or changes things. Say what you are about to do before you call it.",
    SkillClass.DANGEROUS: "What it does can't be undone, so Market asks people to approve each call. Never try to go around that.",
}
_EXAMPLES: dict[str, object] = {
    "string": "...",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "array": [],
    "object": {},
}


def write_skill_guide(pack: PackName, version: Version, folder: str, skill: Skill) -> bytes:
    """Return the text for a skill whose directory is named `folder`; the same skill gives the same bytes."""
    head = [
        "---",
        f"name: {folder}",
        f"description: {_quote(_shorten(skill.description))}",
        "metadata:",
        f"  version: {_quote(version.text)}",
        f"  pack: {_quote(pack)}",
        "  generated-by: market",
        "---",
    ]
    schema = skill.command.schema if skill.command else {}
    key = skill.name
    call = f"market run {key} --args '{json.dumps(_example(schema), ensure_ascii=False)}'"
    body = [
        f"# {key}",
        "",
        skill.description.strip(),
        "",
        "Call it from a shell, with the arguments as one JSON object:",
        "",
        f"    {call}",
        "",
        "The result is printed on stdout as JSON. Exit code 1 means that the skill failed; stderr then says why. Don't run the",
        "files of this folder yourself: Market checks the arguments, enforces who may call it, and keeps the audit log.",
        "",
        _CLASSES[skill.skill_class],
    ]
    return "\n".join([*head, "", *body, "", *_schema_lines(schema)]).encode()


def _example(schema: Mapping[str, object]) -> dict[str, object]:
    """Return arguments with a value for each required property, as far as the schema says."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return {}
    return {name: _value_of(properties.get(name)) for name in required if isinstance(name, str)}


def _value_of(schema: object) -> object:
    if not isinstance(schema, dict):
        return "..."
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    choices = schema.get("enum") or schema.get("examples")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = schema.get("type")
    return _EXAMPLES.get(kind, "...") if isinstance(kind, str) else "..."


def _schema_lines(schema: Mapping[str, object]) -> list[str]:
    text = json.dumps(schema, ensure_ascii=False, indent=2)
    if not schema or len(text) > MAX_SCHEMA_CHARACTERS:
        return []
    fence = "`" * max(3, _longest_run(text) + 1)
    return ["The arguments' JSON Schema:", "", f"{fence}json", text, fence, ""]


def _longest_run(text: str) -> int:
    return max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_DESCRIPTION_CHARACTERS else f"{line[: MAX_DESCRIPTION_CHARACTERS - 3]}..."


def _quote(text: str) -> str:
    # A JSON string is a YAML string in double quotes.
    return json.dumps(text, ensure_ascii=False)
