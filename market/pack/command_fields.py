"""The fields of a skill.json, one method each: its type, its rule (mission A2 to A9) and the place of a breach."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from market.model import DEFAULT_TIMEOUT_SECONDS, SkillClass
from market.pack.classes import parse_class
from market.pack.rules import make_problem
from market.pack.schema_check import find_schema_fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.errors import Problem
    from market.pack.json_text import JsonText

MAX_SKILL_NAME_CHARACTERS = 64
MAX_TIMEOUT_SECONDS = 86_400
FIELDS = (
    "name",
    "description",
    "schema",
    "entry",
    "env_allow",
    "timeout_seconds",
    "class",
    "category",
    "version",
    "metadata",
)
# Of a field with many faults only so many are told: a hostile file must not cost minutes.
MAX_PROBLEMS_A_FIELD = 20
MAX_KEY_CHARACTERS = 40
EMPTY_SCHEMA: Mapping[str, object] = {"type": "object", "properties": {}}

_NAME = re.compile(r"[a-z0-9_]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOADER_VARIABLE = re.compile(r"LD_.*|DYLD_.*|BASH_ENV")


class CommandFields:
    """Reads the fields of a skill.json one by one and collects what is wrong with them."""

    def __init__(self, document: JsonText) -> None:
        self.document = document
        self.values: dict[str, Any] = document.value
        self.problems: list[Problem] = []

    def report(self, rule: str, text: str, *path: str | int, fix: str = "") -> None:
        """Add a problem at the place of a field."""
        self.problems.append(make_problem(rule, text, self.document.file, self.document.find_place(path), fix=fix))

    def read_text(self, key: str) -> str:
        """Return a text field, empty where it is absent, null or of another type (which is reported)."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            self.report("field-type", f"{key!r} is {_kind(value)}, not a text", key, fix=f'write "{key}": "{value}"')
            return ""
        return value or ""

    def read_required(self, key: str) -> str:
        """Return a text field that must be there and not blank."""
        before = len(self.problems)
        value = self.read_text(key)
        if not value.strip() and len(self.problems) == before:
            what = f"{key!r} is empty" if key in self.values else f"{key!r} is missing"
            self.report("field-missing", what, *([key] if key in self.values else []), fix=f'add "{key}": "..."')
        return value

    def read_name(self) -> str:
        """Return the skill's key (A2)."""
        name = self.read_required("name")
        if name and not (_NAME.fullmatch(name) and len(name) <= MAX_SKILL_NAME_CHARACTERS):
            why = (
                f"has {len(name)} characters, more than {MAX_SKILL_NAME_CHARACTERS}"
                if _NAME.fullmatch(name)
                else "has other characters than a-z, 0-9 and _"
            )
            self.report(
                "skill-name", f"the name {name[:80]!r} {why}", "name", fix=f"write {suggest_skill_name(name)!r}"
            )
        return name

    def read_schema(self) -> Mapping[str, object]:
        """Return the arguments' schema; a missing one accepts any object (A4)."""
        schema = self.values.get("schema")
        if schema is None:
            return EMPTY_SCHEMA
        if not isinstance(schema, dict):
            self.report("schema-type", f"'schema' is {_kind(schema)}, not an object", "schema")
            return EMPTY_SCHEMA
        if fault := find_schema_fault(schema):
            path, why = fault
            self.report("schema-invalid", f"'schema{_pointer(path)}': {why}", "schema", *path)
        elif not _accepts_objects(schema.get("type", "object")):
            self.report("schema-not-arguments", f"the schema's type is {schema['type']!r}", "schema", "type")
        return schema

    def read_env_allow(self) -> tuple[str, ...]:
        """Return the names of the variables that are forwarded (A6)."""
        names = self.values.get("env_allow")
        if names is None:
            return ()
        if not isinstance(names, list):
            self.report("field-type", f"'env_allow' is {_kind(names)}, not a list of names", "env_allow")
            return ()
        before = len(self.problems)
        for number, name in enumerate(names):
            if len(self.problems) - before >= MAX_PROBLEMS_A_FIELD:
                break
            if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
                self.report("environment-name", f"{name!r} is not a variable's name", "env_allow", number)
            elif _LOADER_VARIABLE.fullmatch(name):
                self.report("environment-loader", f"{name!r} is never forwarded", "env_allow", number)
        return tuple(name for name in names if isinstance(name, str))

    def read_timeout(self) -> int:
        """Return the time limit in seconds (A7)."""
        value = self.values.get("timeout_seconds")
        if value is None:
            return DEFAULT_TIMEOUT_SECONDS
        is_whole = (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
        if not is_whole or not 0 <= value <= MAX_TIMEOUT_SECONDS:
            self.report(
                "timeout-invalid",
                f"'timeout_seconds' is {value!r}, not a whole number from 0 to {MAX_TIMEOUT_SECONDS}",
                "timeout_seconds",
            )
            return DEFAULT_TIMEOUT_SECONDS
        return int(value) or DEFAULT_TIMEOUT_SECONDS

    def read_class(self) -> SkillClass:
        """Return the class (A8, B6). One that can't be read counts as dangerous: never more than was said."""
        text = self.read_text("class")
        if not text:
            self.report(
                "class-missing",
                "'class' is missing, so the skill counts as safe",
                *(["class"] if "class" in self.values else []),
            )
            return SkillClass.SAFE
        skill_class, is_alias = parse_class(text)
        if skill_class is None:
            near = get_close_matches(text.lower(), [member.value for member in SkillClass], 1)
            self.report(
                "class-invalid",
                f"the class {text[:80]!r} doesn't exist",
                "class",
                fix=f"write {near[0]!r}" if near else "",
            )
            return SkillClass.DANGEROUS
        if is_alias:
            self.report(
                "class-alias",
                f"the class {text!r} was read as {skill_class.value!r}",
                "class",
                fix=f"write {skill_class.value!r}",
            )
        return skill_class

    def read_version(self) -> str:
        """Return the pack's version where the manifest carries one; a number is no version, as 1.10 would become 1.1."""
        for path in (("version",), ("metadata", "version")):
            value: Any = self.values
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, str):
                return value
            if value is not None:
                raw = re.match(r"[^,}\s]+", self.document.text[self.document.offsets[path] :])
                self.report(
                    "version-invalid",
                    f"the version is {_kind(value)}, not a text",
                    *path,
                    fix=f'write "{raw[0] if raw else value}"',
                )
        return ""

    def read_metadata(self) -> Mapping[str, Any]:
        """Return the free `metadata` object."""
        value = self.values.get("metadata")
        if value is not None and not isinstance(value, dict):
            self.report("field-type", f"'metadata' is {_kind(value)}, not an object", "metadata")
        return value if isinstance(value, dict) else {}

    def find_unknown(self) -> None:
        """Warn of fields that look like a misspelt one; other extra fields are the author's own business."""
        unknown = [key for key in self.values if key not in FIELDS and 0 < len(key) <= MAX_KEY_CHARACTERS]
        for key in unknown[:MAX_PROBLEMS_A_FIELD]:
            near = _find_near(key)
            if near and near not in self.values:
                self.report("field-near", f"{key!r} is not a field", key, "@key", fix=f"did you mean {near!r}?")


def suggest_skill_name(name: str) -> str:
    """Return the nearest name that A2 allows."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_SKILL_NAME_CHARACTERS] or "my_skill"


def _find_near(key: str) -> str:
    """Return the field that a misspelt key stands for, such as `timeout` or `Env-Allow`; empty for a key of its own."""
    plain = key.lower().replace("-", "_")
    near = get_close_matches(plain, FIELDS, 1, 0.75)
    return next((field for field in FIELDS if field.startswith(f"{plain}_")), near[0] if near else "")


def _accepts_objects(kind: object) -> bool:
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _pointer(path: Sequence[str | int]) -> str:
    return "".join(f"/{part}" for part in path)


def _kind(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names[type(value)]
