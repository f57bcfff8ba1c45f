"""Say what is wrong with arguments, one sentence per violation, with its JSON pointer."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from market.run.limits import PREVIEW_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_TYPE_NAMES = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule. `pointer` is a JSON pointer into the arguments (RFC 6901), `expected` a type or rule."""

    pointer: str
    text: str
    expected: str = ""

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.text}"

    def as_json(self) -> dict[str, str]:
        """Return the violation for `--json` and problem+json."""
        return {"pointer": self.pointer, "text": self.text, "expected": self.expected}


def describe_violations(validator: Validator, value: dict[str, Any]) -> tuple[Violation, ...]:
    """Return every violation in the order of their pointers."""
    found = [violation for error in validator.iter_errors(value) for violation in _describe(error)]
    return tuple(sorted(set(found), key=lambda violation: (violation.pointer, violation.text)))


def _describe(error: ValidationError) -> Iterator[Violation]:
    pointer = _pointer(error.absolute_path)
    rule: Any = error.validator_value
    if error.validator == "required" and isinstance(error.instance, dict):
        yield from (_missing(pointer, name, error) for name in rule if name not in error.instance)
    elif error.validator == "type":
        expected = " or ".join(rule) if isinstance(rule, list) else str(rule)
        yield Violation(
            pointer, f"expected {expected}, got {_type_name(error.instance)} {_preview(error.instance)}", expected
        )
    elif error.validator == "additionalProperties" and rule is False and isinstance(error.instance, dict):
        yield from _unknown(pointer, error)
    elif error.validator == "enum":
        choices = ", ".join(_preview(choice) for choice in rule)
        yield Violation(pointer, f"expected one of {choices}, got {_preview(error.instance)}", f"one of {choices}")
    else:
        yield Violation(pointer, _shorten(error.message), f"{error.validator}: {_preview(rule)}")


def _missing(pointer: str, name: str, error: ValidationError) -> Violation:
    part = _properties(error).get(name)
    kind = part.get("type") if isinstance(part, dict) else None
    expected = " or ".join(kind) if isinstance(kind, list) else str(kind or "any value")
    return Violation(f"{pointer}/{_escape(name)}", f"is required ({expected})", expected)


def _unknown(pointer: str, error: ValidationError) -> Iterator[Violation]:
    known = sorted(_properties(error))
    given: Any = error.instance
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known) or 'none'}"
            yield Violation(f"{pointer}/{_escape(name)}", f"is not a parameter of this skill; {advice}", "absent")


def _properties(error: ValidationError) -> dict[str, Any]:
    found = error.schema.get("properties") if isinstance(error.schema, dict) else None
    return found if isinstance(found, dict) else {}


def _pointer(path: Iterable[str | int]) -> str:
    return "".join(f"/{_escape(str(step))}" for step in path)


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _type_name(value: object) -> str:
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def _preview(value: object) -> str:
    return _shorten(repr(value))


def _shorten(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "..."
