"""Indexes as dictionaries: `an_index({"a": {"1.0": ["b>=1"]}})`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from market.client.wire import ArchiveLink, PackDocument, ReleaseSummary
from market.errors import NotFound
from market.names import parse_requirement, parse_version
from market.resolve.candidates import Candidate, Prefer, Standing
from market.resolve.provider import Wish
from market.resolve.resolve import Pick, Question, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from market.resolve.policy import Policy

DIGEST = f"sha256:{'0' * 64}"
PUBLISHED_AT = "2026-01-01T00:00:00Z"


@dataclass
class Graph:
    """Packs with versions (`1.0` or `1.0 yanked`) and what each requires. `asked` lists the names that were asked for."""

    packs: Mapping[str, Mapping[str, Sequence[str]]]
    asked: list[str] = field(default_factory=list)
    publisher: str = "acme"
    published: Mapping[str, str] = field(default_factory=dict)
    needs: Mapping[str, dict[str, object]] = field(default_factory=dict)
    tags: Mapping[str, dict[str, str]] = field(default_factory=dict)

    def find(self, name: str) -> PackDocument:
        self.asked.append(name)
        if name not in self.packs:
            raise NotFound(f"the index doesn't know {name}")
        rows = tuple(
            self._row(name, *version.split(), requires=requires) for version, requires in self.packs[name].items()
        )
        live = [row.version for row in rows if row.state == "live"]
        latest = max(live, key=parse_version, default="")
        return PackDocument(name, self.publisher, "", latest, PUBLISHED_AT, rows, self.tags.get(name, {}))

    def _row(self, name: str, version: str, state: str = "live", *, requires: Sequence[str]) -> ReleaseSummary:
        when = self.published.get(f"{name} {version}", PUBLISHED_AT)
        row = ReleaseSummary(version, state, when, DIGEST, ArchiveLink(DIGEST, 10, "x"), "x", requires=tuple(requires))
        return replace(row, needs=self.needs.get(f"{name} {version}", {}))


def a_candidate(
    text: str, *requires: str, standing: Standing = Standing.INSTALLED, publisher: str = "acme"
) -> Candidate:
    """A candidate of `NAME VERSION`."""
    name, version = text.split()
    return Candidate(name, parse_version(version), publisher, tuple(map(parse_requirement, requires)), standing)


def solve(
    graph: Graph,
    *asked: str,
    prefer: Prefer = Prefer.NEWEST,
    installed: Sequence[Candidate] = (),
    given: Sequence[Candidate] = (),
    follow: bool = True,
    policy: Policy | None = None,
) -> dict[str, str]:
    """Resolve and return `{name: "VERSION STANDING"}`."""
    return {
        pick.name: f"{pick.candidate.version} {pick.candidate.standing}"
        for pick in picks(graph, *asked, prefer=prefer, installed=installed, given=given, follow=follow, policy=policy)
    }


def picks(
    graph: Graph,
    *asked: str,
    prefer: Prefer = Prefer.NEWEST,
    installed: Sequence[Candidate] = (),
    given: Sequence[Candidate] = (),
    follow: bool = True,
    policy: Policy | None = None,
) -> tuple[Pick, ...]:
    """Resolve `asked` over a graph."""
    wishes = [Wish(parse_requirement(text), prefer) for text in asked]
    question = Question(wishes, {one.name: one for one in installed}, {one.name: one for one in given}, follow)
    return resolve(question, graph.find, policy)
