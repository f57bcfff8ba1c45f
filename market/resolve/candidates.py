"""What there is of one pack to choose from, and which of it fits some requirements. Pure.

Several packs that require each other are resolved in `resolve.py`; the errors for one that can't be had are in `choose.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput
from market.names import Version, parse_requirement, parse_version
from market.pack.wheel_tags import find_tags, is_universal
from market.resolve.policy import Policy, find_too_young

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from market.client.wire import PackDocument, ReleaseSummary
    from market.names import Requirement

LIVE = "live"
YANKED = "yanked"
LATEST = "latest"
WHEEL = "wheel"


class Standing(StrEnum):
    """Where a candidate would come from: an index, what is installed already, or what a person handed over."""

    INDEX = "index"
    INSTALLED = "installed"
    GIVEN = "given"


class Prefer(IntEnum):
    """What somebody prefers among the releases that fit, from the weakest to the strongest wish.

    INSTALLED keeps what is there. UPGRADE takes a newer release and else keeps. NEWEST takes the newest release from its index,
    also over an installed one of that version, which repairs it. Nothing goes back to an older release unless it was asked for.
    """

    INSTALLED = 0
    UPGRADE = 1
    NEWEST = 2


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One release that may be chosen. `release` is its row in the index's document, None where it isn't from there."""

    name: str
    version: Version
    publisher: str
    requires: tuple[Requirement, ...]
    standing: Standing = Standing.INDEX
    release: ReleaseSummary | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def is_yanked(self) -> bool:
        """Whether its index has taken it back; an installed one stays as it is."""
        return self.release is not None and self.release.state == YANKED


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A live release that may not be chosen, and why. `is_policy` where the operator's setting forbids it, not the machine."""

    version: Version
    why: str
    is_policy: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """All of one pack, newest first. `document` is None where no index was asked or none knows the pack."""

    name: str
    candidates: tuple[Candidate, ...]
    passed_over: tuple[PassedOver, ...] = ()
    document: PackDocument | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_unfinished(self) -> bool:
        """Whether no final release is live, so that a pre-release is what people get."""
        return not any(
            one.release and one.release.state == LIVE and not one.version.is_prerelease for one in self.candidates
        )


def make_offer(document: PackDocument, policy: Policy) -> Offer:
    """Return the releases of a document that may be chosen. Held, quarantined and deleted ones never are."""
    candidates, passed = [], []
    for release in document.releases:
        candidate = _parse_release(document, release) if release.state in (LIVE, YANKED) else None
        if candidate is None:
            continue
        unmet, young = policy.find_unmet(needs_of(release)), find_too_young(document, release, policy)
        if unmet or young:
            why = f"it needs {'; '.join(unmet)}" if unmet else young
            passed.append(PassedOver(candidate.version, why, is_policy=not unmet))
        else:
            candidates.append(candidate)
    candidates.sort(key=lambda one: one.version, reverse=True)
    passed.sort(key=lambda one: one.version, reverse=True)
    return Offer(document.name, tuple(candidates), tuple(passed), document, {LATEST: document.latest, **document.tags})


def needs_of(release: ReleaseSummary) -> Mapping[str, Any]:
    """Return what a release needs from the machine.

    The tags of a wheel are among it as its Requires-Python is; of a document that doesn't list them, those in its file's name are,
    which are the same.
    """
    if release.archive.kind != WHEEL or "tags" in release.needs:
        return release.needs
    tags = find_tags(release.archive.filename)
    return release.needs if any(map(is_universal, tags)) else {**release.needs, "tags": tags}


def select(offer: Offer, requirements: Sequence[Requirement], prefer: Prefer = Prefer.NEWEST) -> list[Candidate]:
    """Return the candidates that fit all requirements, the preferred one first.

    A yanked release fits only where one of them pins it exactly; a pre-release only where one asks for it (by version, tag or
    specifier), or where the pack has no final release at all.
    """
    fitting = [
        one
        for one in offer.candidates
        if all(fits(requirement, one, offer.tags) for requirement in requirements)
        and (not one.is_yanked or any(requirement.version == one.version for requirement in requirements))
        and _may_be_unfinished(offer, one, requirements)
    ]
    return _in_order(fitting, prefer)


def fits(requirement: Requirement, candidate: Candidate, tags: Mapping[str, str]) -> bool:
    """Whether a candidate is one that a requirement means. What was handed over needs no publisher and has no tags."""
    is_given = candidate.standing is Standing.GIVEN
    if (
        requirement.publisher is not None
        and requirement.publisher != candidate.publisher
        and not (is_given and not candidate.publisher)
    ):
        return False
    if requirement.version is not None:
        return requirement.version == candidate.version
    if requirement.tag is not None:
        return is_given or _tagged(tags, requirement.tag) == candidate.version
    # Pre-releases are sorted out elsewhere; `contains` would drop them before it is known whether anything else fits.
    return requirement.specifier is None or requirement.specifier.contains(candidate.version.key, prereleases=True)


def asks_for_prereleases(requirement: Requirement) -> bool:
    """Whether a requirement means pre-releases too: by a version, a tag, or a specifier that names one."""
    by_name = requirement.version is not None or requirement.tag is not None
    return by_name or (requirement.specifier is not None and bool(requirement.specifier.prereleases))


def parse_requires(texts: Collection[str]) -> tuple[Requirement, ...] | None:
    """Return the requirements that a document lists; None where one is of a syntax that this client doesn't know."""
    try:
        return tuple(parse_requirement(text) for text in texts)
    except InvalidInput:
        return None


def _may_be_unfinished(offer: Offer, one: Candidate, requirements: Sequence[Requirement]) -> bool:
    if not one.version.is_prerelease or one.standing is not Standing.INDEX or offer.is_unfinished:
        return True
    return any(asks_for_prereleases(requirement) for requirement in requirements)


def _in_order(candidates: Sequence[Candidate], prefer: Prefer) -> list[Candidate]:
    first = {
        Standing.GIVEN: 0,
        Standing.INSTALLED: 2 if prefer is Prefer.NEWEST else 1,
        Standing.INDEX: 1 if prefer is Prefer.NEWEST else 2,
    }
    ordered = sorted(candidates, key=lambda one: first[one.standing])
    if prefer is Prefer.INSTALLED:
        kept = [one for one in ordered if one.standing is not Standing.INDEX]
        return kept + sorted(
            (one for one in ordered if one.standing is Standing.INDEX), key=lambda one: one.version, reverse=True
        )
    return sorted(ordered, key=lambda one: one.version, reverse=True)


def _parse_release(document: PackDocument, release: ReleaseSummary) -> Candidate | None:
    try:
        version = parse_version(release.version)
    except InvalidInput:  # a newer index may know versions that this client doesn't
        return None
    requires = parse_requires(release.requires)
    if requires is None:
        return None
    return Candidate(document.name, version, document.publisher, requires, Standing.INDEX, release)


def _tagged(tags: Mapping[str, str], tag: str) -> Version | None:
    try:
        return parse_version(tags[tag]) if tags.get(tag) else None
    except InvalidInput:
        return None
