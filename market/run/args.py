"""Are these the arguments that the skill's schema asks for? Fills defaults, then lists every violation. Running is not here."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import referencing
import referencing.exceptions
from jsonschema.validators import Draft202012Validator, validator_for

from market.errors import InvalidInput
from market.run.defaults import fill_defaults
from market.run.limits import MAX_ARGS_BYTES, MAX_VIOLATIONS
from market.run.violations import describe_violations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema.protocols import Validator

_KEPT_VALIDATORS = 1024


def fill_args(schema: Mapping[str, object], params: object) -> dict[str, object]:
    """Return the arguments with the schema's defaults filled in; `params` is left as it was.

    None counts as no arguments. Raises InvalidInput with every violation: JSON pointer, what was expected, what came
    (`details["violations"]` for machines).
    """
    given = {} if params is None else params
    if not isinstance(given, dict):
        raise InvalidInput(
            f"the arguments must be a JSON object, not {_json_type(given)}", hint='write them as {"name": value, ...}'
        )
    try:
        filled: dict[str, object] = fill_defaults(schema, copy.deepcopy(given))
        violations = describe_violations(_validator(json.dumps(schema)), filled)
    except RecursionError:
        raise InvalidInput("the arguments are nested too deeply", hint="flatten them") from None
    except referencing.exceptions.Unresolvable as error:
        raise InvalidInput(
            f"the skill's schema refers to {error.ref!r}, which it doesn't contain",
            why="a schema must be complete by itself; nothing is fetched",
            hint="tell the pack's author",
        ) from None
    if violations:
        lines = [str(violation) for violation in violations[:MAX_VIOLATIONS]]
        if len(violations) > MAX_VIOLATIONS:
            lines.append(f"and {len(violations) - MAX_VIOLATIONS} more")
        raise InvalidInput(
            "the arguments don't fit the skill's schema: " + "; ".join(lines),
            details={"violations": [violation.as_json() for violation in violations[:MAX_VIOLATIONS]]},
        )
    return filled


def dump_args(filled: Mapping[str, object]) -> str:
    """Return the text that the child reads: compact JSON in pure ASCII, so that no locale can misread it."""
    try:
        text = json.dumps(filled, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput("the arguments can't be written as JSON", why=str(error)) from None
    if len(text) > MAX_ARGS_BYTES:
        raise InvalidInput(
            f"the arguments are {len(text)} bytes long; at most {MAX_ARGS_BYTES} are passed to a skill",
            hint="pass a path or a URL in place of the content",
        )
    return text


@lru_cache(maxsize=_KEPT_VALIDATORS)
def _validator(schema_text: str) -> Validator:
    """Compile a schema once per content. The empty registry makes sure that no `$ref` is fetched from the network."""
    schema: Any = json.loads(schema_text)
    chosen = validator_for(schema, default=Draft202012Validator)
    return chosen(schema, registry=referencing.Registry())


def _json_type(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array"}
    return names.get(type(value), type(value).__name__)
