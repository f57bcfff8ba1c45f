"""JSON Schemas of skill.json and pack.yaml, for editors and other tools. The parser decides; a test holds both together.

What a schema can't say is not in here: whether the entry exists, repeated keys, look-alike names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from market.model import SkillClass
from market.pack.classes import ALIASES
from market.pack.command_fields import MAX_SKILL_NAME_CHARACTERS, MAX_TIMEOUT_SECONDS
from market.pack.pack_manifest import NEEDS_FIELDS, PACK_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# Names, not addresses: nothing is fetched under them. The number grows when a good file would no longer be one.
SKILL_JSON_ID = "urn:skill-market:schema:skill.json:1"
PACK_YAML_ID = "urn:skill-market:schema:pack.yaml:1"

# Python's `$` also matches before a last line feed; the look-ahead makes the pattern mean the same everywhere.
_END = "$(?!\\n)"
_NOT_BLANK = {"type": "string", "pattern": "\\S"}
_TEXT = {"type": ["string", "null"]}
_NAMES = {"type": ["array", "string", "null"], "items": {"type": "string"}}

_PACK_FIELD_SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "name": (_TEXT, "The pack's name: letters, digits and hyphens."),
    "version": (_TEXT, "The release's version as PEP 440 reads it. Write it in quotes for other readers of YAML."),
    "summary": (_TEXT, "One sentence for lists and search."),
    "license": (_TEXT, "An SPDX expression."),
    "homepage": (_TEXT, "Where people read more."),
    "repository": (_TEXT, "Where the source is."),
    "keywords": (_NAMES, "Words for search, as a list or one text with commas."),
    "categories": (_NAMES, "Groups for browsing."),
    "requires": (_NAMES, "Other packs, as NAME, NAME@VERSION or NAME>=1,<2."),
    "skills": (_NAMES, "The folders that hold skills; all are found where this is left out."),
}


def skill_json_schema() -> dict[str, Any]:
    """Return the schema of skill.json."""
    classes = [*(member.value for member in SkillClass), *ALIASES, "", None]
    return {
        "$schema": DIALECT,
        "$id": SKILL_JSON_ID,
        "title": "skill.json: the manifest of a command skill",
        "type": "object",
        "required": ["name", "description", "entry"],
        "properties": {
            "name": {"type": "string", "pattern": f"^[a-z0-9_]{{1,{MAX_SKILL_NAME_CHARACTERS}}}{_END}"},
            "description": _NOT_BLANK,
            "schema": {"anyOf": [{"type": "null"}, {"allOf": [{"type": "object"}, {"$ref": DIALECT}]}]},
            "entry": _NOT_BLANK,
            "env_allow": {
                "type": ["array", "null"],
                "items": {"type": "string", "pattern": f"^[A-Za-z_][A-Za-z0-9_]*{_END}"},
            },
            "timeout_seconds": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_TIMEOUT_SECONDS},
            "class": {"enum": classes},
            "category": _TEXT,
            "version": _TEXT,
            "metadata": {"type": ["object", "null"]},
        },
    }


def pack_yaml_schema() -> dict[str, Any]:
    """Return the schema of pack.yaml, for readers that keep its scalars as text."""
    shapes = {key: {**shape, "description": text} for key, (shape, text) in _PACK_FIELD_SHAPES.items()}
    needs = {key: _TEXT if key == "python" else _NAMES for key in NEEDS_FIELDS}
    shapes["needs"] = {"type": ["object", "null"], "properties": needs, "description": "What the machine must have."}
    return {
        "$schema": DIALECT,
        "$id": PACK_YAML_ID,
        "title": "pack.yaml: the manifest of a pack",
        "type": "object",
        "properties": {key: shapes[key] for key in PACK_FIELDS},
    }


# What `market schema NAME` prints, by the name of the file that it describes.
SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"skill.json": skill_json_schema, "pack.yaml": pack_yaml_schema}
