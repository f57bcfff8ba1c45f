"""The prompt section that offers guides to a model (mission E5-E7), word for word. Pure; where guides come from isn't here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.registry.live import RUNNABLE_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from market.model import Guide
    from market.registry.live import LiveSkill

READ_TOOL = "read"
INTRODUCTION = (
    "The following skills provide specialized instructions for specific tasks.",
    "Use the read tool to load a skill's file when the task matches its description.",
    "If a skill's <version> differs from a previous turn, re-read its SKILL.md before using it.",
    (
        "When a skill file references a relative path, resolve it against the skill directory"
        " (parent of SKILL.md / dirname of the path) and use the absolute path in tool commands."
    ),
    "",
)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One guide as the model sees it. `version` is the content marker; the line is absent where it is empty."""

    name: str
    description: str
    location: str
    version: str = ""


def choose_guides(skills: Iterable[LiveSkill]) -> tuple[LiveSkill, ...]:
    """Return the guides that a model may be shown: usable ones that didn't ask to be left out (mission E5)."""
    return tuple(skill for skill in skills if _is_offered(skill.skill.guide) and skill.state in RUNNABLE_STATES)


def make_rows(guides: Iterable[LiveSkill], locate: Callable[[LiveSkill], str]) -> list[PromptRow]:
    """Return a row a guide; `locate` says where the model can read its SKILL.md. A shadowed guide is named by its key."""
    return [PromptRow(_name(live), live.skill.description, locate(live), _marker(live.skill.guide)) for live in guides]


def dump_prompt(rows: Iterable[PromptRow], tools: Iterable[str] | None = None) -> str:
    """Return the section, or an empty text where there is no guide or no read tool (mission E7).

    `tools` None means that the caller named no tools, which counts as having them all.
    """
    lines = [line for row in rows for line in _dump_row(row)]
    if not lines or (tools is not None and READ_TOOL not in tools):
        return ""
    return "\n\n" + "\n".join([*INTRODUCTION, "<available_skills>", *lines, "</available_skills>"])


def _dump_row(row: PromptRow) -> list[str]:
    values = [("name", row.name), ("description", row.description), ("location", row.location)]
    values += [("version", row.version)] if row.version else []
    return ["  <skill>", *(f"    <{tag}>{value.translate(_ESCAPES)}</{tag}>" for tag, value in values), "  </skill>"]


def _is_offered(guide: Guide | None) -> bool:
    return guide is not None and not guide.disable_model_invocation


def _marker(guide: Guide | None) -> str:
    return guide.marker if guide else ""


def _name(live: LiveSkill) -> str:
    return live.key if live.shadowed_by else live.skill.name
