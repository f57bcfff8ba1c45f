"""Fill the defaults that a schema gives into the arguments. Validation is in `market.run.args`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from market.run.limits import MAX_DEFAULTS_DEPTH


def fill_defaults(schema: Mapping[str, object], value: dict[str, Any]) -> dict[str, Any]:
    """Fill absent properties that have a `default`, in place, and return the value.

    Looks through `properties`, `items`, `allOf` and `$ref` within the schema. `oneOf`, `anyOf` and `if` are left alone:
    which branch is meant isn't known before validation. An absent object is not created for the defaults inside it.
    """
    _fill(schema, value, schema, 0)
    return value


def _fill(schema: object, value: object, top: Mapping[str, object], depth: int) -> None:
    if not isinstance(schema, Mapping) or depth > MAX_DEFAULTS_DEPTH:
        return
    if isinstance(schema.get("$ref"), str):
        _fill(_resolve(top, schema["$ref"]), value, top, depth + 1)
    for part in schema.get("allOf") or ():
        _fill(part, value, top, depth + 1)
    if isinstance(value, dict) and isinstance(schema.get("properties"), Mapping):
        _fill_properties(schema["properties"], value, top, depth)
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            _fill(schema["items"], item, top, depth + 1)


def _fill_properties(
    properties: Mapping[str, object], value: dict[str, Any], top: Mapping[str, object], depth: int
) -> None:
    for name, part in properties.items():
        if name in value:
            _fill(part, value[name], top, depth + 1)
        elif isinstance(part, Mapping) and "default" in part:
            value[name] = copy.deepcopy(part["default"])


def _resolve(top: Mapping[str, object], reference: str) -> object:
    """Follow a JSON pointer within the schema; anything else gives None, which fills nothing."""
    if not reference.startswith("#/"):
        return None
    found: object = top
    for step in reference[2:].split("/"):
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
