"""What the page `/skills` shows: skills that match, by category, with the counts for the chips. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from market.model import SkillClass, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from market.registry.live import LiveSkill
    from market.registry.unit import Dropped

MAX_SHOWN_ROWS = 300
CLASSES = tuple(SkillClass)


@dataclass(frozen=True, slots=True)
class Filter:
    """What the reader chose; empty means all."""

    text: str = ""
    skill_class: str = ""
    scope: str = ""
    kind: str = ""
    state: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Filter:
        """Read the page's query."""
        names = ("class", "scope", "kind", "state")
        return cls(query.get("q", "").strip(), *(query.get(name, "") for name in names))

    def url(self, **changes: str) -> str:
        """Return the page's address with some choices changed."""
        changed = replace(self, **changes)
        values = {
            "q": changed.text,
            "class": changed.skill_class,
            "scope": changed.scope,
            "kind": changed.kind,
            "state": changed.state,
        }
        query = urlencode({name: value for name, value in values.items() if value})
        return f"/skills?{query}" if query else "/skills"

    def matches(self, live: LiveSkill) -> bool:
        """Whether a skill fits the text; the other choices are told apart for the counts."""
        if not self.text:
            return True
        skill = live.skill
        place = f"{live.key} {skill.name} {skill.description} {skill.category} {live.pack}".lower()
        return all(word in place for word in self.text.lower().split())

    def is_chosen(self, live: LiveSkill) -> bool:
        """Whether a skill fits every choice but the text."""
        skill = live.skill
        pairs = (
            (self.skill_class, skill.skill_class),
            (self.scope, skill.scope),
            (self.kind, skill.kind),
            (self.state, live.state),
        )
        return all(not wanted or wanted == found for wanted, found in pairs)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The page's content. `total` counts all skills, `matched` those that fit; `groups` may be cut off at the end."""

    total: int
    matched: int
    groups: tuple[tuple[str, tuple[LiveSkill, ...]], ...]
    classes: tuple[tuple[str, int], ...]
    scopes: tuple[tuple[str, int], ...]
    kinds: tuple[tuple[str, int], ...]
    dropped: tuple[Dropped, ...]
    hidden: int


def make_catalog(skills: Iterable[LiveSkill], dropped: Sequence[Dropped], chosen: Filter) -> Catalog:
    """Filter and group."""
    everything = list(skills)
    fitting = [live for live in everything if chosen.matches(live)]
    matched = [live for live in fitting if chosen.is_chosen(live)]
    shown = sorted(matched, key=lambda live: live.skill.category)[:MAX_SHOWN_ROWS]
    groups: dict[str, list[LiveSkill]] = {}
    for live in shown:
        groups.setdefault(live.skill.category, []).append(live)
    return Catalog(
        total=len(everything),
        matched=len(matched),
        groups=tuple((category, tuple(rows)) for category, rows in groups.items()),
        classes=_count([live.skill.skill_class for live in fitting], CLASSES),
        scopes=_count([live.skill.scope for live in fitting]),
        kinds=_count([live.skill.kind for live in fitting]),
        dropped=tuple(dropped) if chosen.state in ("", State.INVALID) and not chosen.text else (),
        hidden=len(matched) - len(shown),
    )


def _count(values: Sequence[str], always: Sequence[str] = ()) -> tuple[tuple[str, int], ...]:
    counts = Counter(str(value) for value in values)
    return tuple((name, counts[name]) for name in dict.fromkeys((*map(str, always), *sorted(counts))))
