"""Is it a JSON Schema? Plain schemas are answered here in microseconds; the rest is left to jsonschema.

The quick answer is only ever "yes": it knows a part of the keywords and says nothing about the others. A decision record
(docs/decisions) tells why there are two steps.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import islice
from typing import Any

CACHED_SCHEMAS = 4096
MAX_SCHEMA_CHARACTERS = 64 * 1024  # of what the quick check can't answer: the library takes about a second for so much
MAX_FAULTS_COMPARED = 20
MAX_FAULT_CHARACTERS = 200

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_TEXTS = frozenset({"title", "description", "$comment", "format", "contentEncoding", "contentMediaType"})
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_FLAGS = frozenset({"uniqueItems", "deprecated", "readOnly", "writeOnly"})
_SCHEMAS = frozenset({"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"})
_SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf"})
_ANYTHING = frozenset({"default", "const"})

Fault = tuple[tuple[str | int, ...], str]


def find_schema_fault(schema: dict[str, Any]) -> Fault | None:
    """Return where a schema is no JSON Schema, and why; None for a good one. Equal schemas are checked once."""
    if _is_plainly_good(schema):
        return None
    if not isinstance(schema.get("$schema", ""), str):
        return ("$schema",), "the dialect is named by a text"
    text = json.dumps(schema, sort_keys=True)
    if len(text) > MAX_SCHEMA_CHARACTERS:
        return (), f"a schema with more than plain keywords has at most {MAX_SCHEMA_CHARACTERS:,} characters"
    return _check_with_library(text)


def _is_plainly_good(schema: object) -> bool:
    if isinstance(schema, bool):
        return True
    return isinstance(schema, dict) and all(_is_good_keyword(keyword, value) for keyword, value in schema.items())


def _is_good_keyword(keyword: str, value: Any) -> bool:
    if keyword == "type":
        return isinstance(value, str) and value in _TYPES
    if keyword == "properties":
        return isinstance(value, dict) and all(_is_plainly_good(part) for part in value.values())
    if keyword in _TEXTS:
        return isinstance(value, str)
    if keyword == "required":
        return _is_list(value, str) and len(set(value)) == len(value)
    if keyword in _SCHEMAS or keyword == "items":
        return _is_plainly_good(value)
    if keyword in _SCHEMA_LISTS:
        return isinstance(value, list) and bool(value) and all(_is_plainly_good(part) for part in value)
    return _is_good_value(keyword, value)


def _is_good_value(keyword: str, value: Any) -> bool:
    if keyword in _COUNTS:
        return type(value) is int and value >= 0
    if keyword in _NUMBERS:
        return type(value) in (int, float)
    if keyword in _FLAGS:
        return isinstance(value, bool)
    if keyword in ("enum", "examples"):
        return isinstance(value, list) and bool(value) and _is_list(value, str) and len(set(value)) == len(value)
    return keyword in _ANYTHING


def _is_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


@lru_cache(CACHED_SCHEMAS)
def _check_with_library(text: str) -> Fault | None:
    # Imported at use: it takes longer than all else that an install of a guide does, and few schemas need it.
    from jsonschema.exceptions import SchemaError, best_match
    from jsonschema.validators import Draft202012Validator, validator_for

    schema = json.loads(text)
    validator = validator_for(schema, default=Draft202012Validator)
    meta = validator_for(validator.META_SCHEMA, default=validator)
    checker = meta(validator.META_SCHEMA, format_checker=validator.FORMAT_CHECKER)
    try:
        error = best_match(islice(checker.iter_errors(schema), MAX_FAULTS_COMPARED))
    except (SchemaError, RecursionError, re.error) as fault:
        return (), str(fault).splitlines()[0]
    if error is None:
        return None
    path = tuple(error.absolute_path)
    what = f"{error.instance!r} is none of {', '.join(sorted(_TYPES))}" if path[-1:] == ("type",) else error.message
    return path, what[:MAX_FAULT_CHARACTERS]
