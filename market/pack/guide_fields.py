"""The fields of a SKILL.md beyond our own reading: which the Agent Skills rule knows, and which some client gives a meaning to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

RULE_FIELDS = frozenset({"name", "description", "license", "allowed-tools", "metadata", "compatibility"})
# Fields that work where they stand: in Claude Code, OpenClaw, opencode or here. Under `metadata` they would do nothing.
CLIENT_FIELDS = frozenset(
    {
        "activation", "agent", "argument-hint", "arguments", "category", "command-arg-mode", "command-dispatch", "command-tool",
        "context", "disable-model-invocation", "disableModelInvocation", "disable_model_invocation", "effort", "homepage", "hooks",
        "model", "paths", "repository", "shell", "tools", "user-invocable", "when_not_to_use", "when_to_use",
    }
)  # fmt: skip
# Fields that the rule wants as one text, with what stands between the parts.
TEXT_FIELDS = {"allowed-tools": " ", "compatibility": ", "}


def find_movable(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields that belong under `metadata`: no rule and no client knows them where they are."""
    return tuple(key for key in fields if key not in RULE_FIELDS and key not in CLIENT_FIELDS)


def join_listed(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that are lists and should be one text, with that text. A part with a space in it couldn't be told apart."""
    joined = {}
    for key, between in TEXT_FIELDS.items():
        value = fields.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(part, str) and part for part in value):
            continue
        if not any(between in part for part in value):
            joined[key] = between.join(value)
    return joined
