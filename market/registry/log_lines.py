"""The lines that the registry logs, worded exactly as operators' filters expect them (mission A8, A13, A14, A18). Pure."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from market.model import Kind, State
from market.registry.reconcile import Event, EventKind

if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "skill loader: "

Line = tuple[int, str]


def registered_line(name: str, path: str) -> str:
    """Say that a command skill is live."""
    return f'{PREFIX}registered subprocess skill "{name}" from {path}'


def duplicate_line(name: str, path: str) -> str:
    """Say that the name was taken already."""
    return f'{PREFIX}skill "{name}" already registered, skipping {path}'


def parse_line(path: str, cause: str) -> str:
    """Say that a manifest couldn't be read."""
    return f"{PREFIX}parse {path}: {_one_line(cause)}"


def build_line(name: str, cause: str) -> str:
    """Say that a manifest was read but no skill could be made of it."""
    return f'{PREFIX}build "{name}": {_one_line(cause)}'


def class_missing_line(name: str, path: str) -> str:
    """Say that a manifest without a class was loaded as safe, so that it can't slip through silently."""
    return f'{PREFIX}skill "{name}" has no class and is loaded as safe: {path}'


def escape_cause(entry: str, root: str) -> str:
    """Say that an entry, resolved through all links, doesn't lie under its root."""
    return f"entry {entry} escapes allowlist root {root}"


def format_events(events: Iterable[Event]) -> list[Line]:
    """Return the log level and text of each event that has a line; guides that load, and removals, have none."""
    return [line for event in events if (line := _format_event(event)) is not None]


def _format_event(event: Event) -> Line | None:
    if event.kind is EventKind.DROPPED:
        return logging.WARNING, build_line(event.name, event.cause) if event.name else parse_line(
            event.path, event.cause
        )
    if event.kind is EventKind.DUPLICATE:
        return logging.WARNING, duplicate_line(event.name, event.path)
    if event.kind is EventKind.COPY:
        return logging.INFO, duplicate_line(event.name, event.path)
    if event.kind is EventKind.CLASS_MISSING:
        return logging.WARNING, class_missing_line(event.name, event.path)
    if event.skill is not None and event.skill.state is State.INVALID and event.kind is EventKind.REGISTERED:
        return logging.WARNING, build_line(event.name, "; ".join(problem.text for problem in event.skill.problems))
    if event.kind is EventKind.REGISTERED and event.skill is not None and event.skill.skill.kind is not Kind.GUIDE:
        return logging.INFO, registered_line(event.name, event.path)
    return None


def _one_line(text: str) -> str:
    return " ".join(text.split())
