"""A run form from a skill's JSON Schema, and the arguments from what the form sends back (mission C6). Pure.

A property of a simple type is a field of its own; what a form can't ask for (objects, arrays, `oneOf`, a schema without
properties) is asked for as JSON. The invoker validates the arguments in any case.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "arg."
WHOLE = "args"
MAX_FIELDS = 100


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the form. `kind` is text, long, number, integer, choice, yesno or json; `shown` is what stands in it first."""

    name: str
    kind: str
    label: str
    required: bool
    description: str = ""
    shown: str = ""
    choices: tuple[str, ...] = ()
    minimum: str = ""
    maximum: str = ""

    @property
    def input_name(self) -> str:
        """The name under which the browser sends it."""
        return PREFIX + self.name


def make_fields(schema: Mapping[str, Any]) -> tuple[Field, ...] | None:
    """Return the form's fields, or None where only JSON can say the arguments."""
    properties = schema.get("properties") or {}
    if any(key in schema for key in ("oneOf", "anyOf", "allOf", "$ref", "if")) or len(properties) > MAX_FIELDS:
        return None
    if not properties and schema.get("additionalProperties", True) is not False:
        return None
    required = set(schema.get("required") or ())
    return tuple(
        _make_field(name, part if isinstance(part, dict) else {}, name in required) for name, part in properties.items()
    )


def read_arguments(schema: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments that a person filled in; empty fields are left out. Raises `InvalidInput` for text that isn't JSON."""
    fields = make_fields(schema)
    if fields is None:
        value = _parse_json("the arguments", sent.get(WHOLE, "").strip() or "{}")
        if not isinstance(value, dict):
            raise InvalidInput("the arguments are not a JSON object", hint='for example {"path": "/tmp"}')
        return value
    texts = ((field, sent.get(field.input_name, "")) for field in fields)
    return {field.name: _read_value(field, text) for field, text in texts if text != "" or _keeps_empty(field)}


def _make_field(name: str, part: Mapping[str, Any], required: bool) -> Field:
    default = part.get("default")
    kind, choices = _kind_of(part)
    shown = "" if default is None else default if isinstance(default, str) else json.dumps(default, ensure_ascii=False)
    if kind == "choice":
        shown = "" if default is None else json.dumps(default, ensure_ascii=False)
    limits = {key: str(part[key]) for key in ("minimum", "maximum") if isinstance(part.get(key), (int, float))}
    label = part["title"] if isinstance(part.get("title"), str) else name
    description = part["description"] if isinstance(part.get("description"), str) else ""
    return Field(name, kind, label, required, description, shown, choices, **limits)


def _kind_of(part: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    if isinstance(part.get("enum"), list):
        return "choice", tuple(json.dumps(value, ensure_ascii=False) for value in part["enum"])
    kinds = {"boolean": "yesno", "integer": "integer", "number": "number"}
    given = part.get("type")
    if given == "string":
        return ("long" if part.get("format") == "markdown" or (part.get("maxLength") or 0) > 500 else "text"), ()
    return (kinds[given], ()) if isinstance(given, str) and given in kinds else ("json", ())


def _read_value(field: Field, text: str) -> Any:
    if field.kind in ("text", "long"):
        return text
    if field.kind == "yesno":
        return text == "true"
    return _parse_json(field.label, text)


def _keeps_empty(field: Field) -> bool:
    # Required text may be meant to be empty; everything else that is empty wasn't filled in.
    return field.kind in ("text", "long") and field.required


def _parse_json(what: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{what} can't be read as JSON", why=str(error), hint='texts need quotes, for example ["a", "b"]'
        ) from None
