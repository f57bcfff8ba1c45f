"""Which release of one pack answers a requirement, and if none does, the error that says what there is.

Several packs that require each other are resolved in `resolve.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Conflict, MarketError, NotFound, Refused, Unavailable
from market.names import Version, parse_version
from market.resolve.candidates import LIVE, Standing, fits, make_offer, select
from market.resolve.policy import AGE_SETTING, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.client.wire import PackDocument, ReleaseSummary
    from market.names import Requirement
    from market.resolve.candidates import Offer, PassedOver

MAX_SHOWN_VERSIONS = 20


def choose_release(requirement: Requirement, document: PackDocument, policy: Policy | None = None) -> ReleaseSummary:
    """Choose the newest release that fits a requirement.

    A yanked release is chosen only when pinned exactly, a pre-release only when asked for or when the pack has no final release;
    held, quarantined and deleted ones never. Raises `NotFound`, naming what there is, `Conflict` where the pack belongs to
    another publisher than the requirement says, and `Refused` where the policy or this machine's kind forbids what fits.
    """
    offer = make_offer(document, policy or Policy())
    check_answerable(requirement, offer)
    chosen = select(offer, [requirement])[0].release
    if chosen is None:
        raise AssertionError("an offer of a document holds its rows only")
    return chosen


def check_answerable(requirement: Requirement, offer: Offer) -> None:
    """Raise the error that `choose_release` speaks of where no candidate of an offer fits a requirement."""
    if select(offer, [requirement]):
        return
    if offer.document is None:
        raise _nothing_given(requirement, offer)
    _check_publisher(requirement, offer.document)
    raise _why_not(requirement, offer, offer.document)


def list_versions(document: PackDocument) -> str:
    """Return a phrase of what a pack has: `there is 1.1.0, 1.0.0; and not for choosing: 0.9 (yanked)`."""
    return _describe(_readable(document))


def _check_publisher(requirement: Requirement, document: PackDocument) -> None:
    if requirement.publisher is not None and requirement.publisher != document.publisher:
        raise Conflict(
            f"{document.name} belongs to @{document.publisher}, not to @{requirement.publisher}",
            why="the requirement names the publisher, so another one's pack is not taken",
            hint=f"if that is the one you want, ask for @{document.publisher}/{document.name}",
            details={"name": document.name, "publisher": document.publisher, "asked": requirement.publisher},
        )


def _why_not(requirement: Requirement, offer: Offer, document: PackDocument) -> MarketError:
    releases = _readable(document)
    if requirement.tag is not None and requirement.tag not in (tag for tag, text in offer.tags.items() if text):
        known = ", ".join(sorted(document.tags)) or "none"
        return NotFound(
            f"{document.name} has no tag {requirement.tag!r}", why=f"its tags: {known}", hint="or ask for a version"
        )
    forbidden = [one for one in offer.passed_over if _is_meant(requirement, offer, one.version)]
    if forbidden:
        return _forbidden(document, forbidden[0])
    pinned = requirement.version or (parse_version(offer.tags[requirement.tag]) if requirement.tag else None)
    for version, release in releases:
        if version == pinned and release.state != LIVE:
            return _not_offered(document, release)
    return _nothing_fits(requirement, offer, document, releases)


def _is_meant(requirement: Requirement, offer: Offer, version: Version) -> bool:
    if requirement.version is not None:
        return requirement.version == version
    if requirement.tag is not None:
        return parse_version(offer.tags[requirement.tag]) == version
    return requirement.specifier is None or requirement.specifier.contains(version.key, prereleases=True)


def _forbidden(document: PackDocument, one: PassedOver) -> Refused:
    override = f"wait, ask for an older release, or override once with --{AGE_SETTING} 0"
    return Refused(
        f"{document.name} {one.version} may not be installed here",
        why=one.why,
        hint=override if one.is_policy else "install it on a machine of that kind, or choose another release",
        details={"name": document.name, "version": one.version.text, "rule": AGE_SETTING if one.is_policy else "needs"},
    )


def _readable(document: PackDocument) -> list[tuple[Version, ReleaseSummary]]:
    pairs = []
    for release in document.releases:
        version = try_version(release.version)
        if version is not None:
            pairs.append((version, release))
    return sorted(pairs, key=lambda pair: pair[0], reverse=True)


def try_version(text: str) -> Version | None:
    """Return a version, or None where a newer index writes one that this client doesn't know."""
    try:
        return parse_version(text)
    except MarketError:
        return None


def _not_offered(document: PackDocument, release: ReleaseSummary) -> Unavailable | NotFound:
    if release.state == "held":
        return Unavailable(
            f"{document.name} {release.version} is held for review",
            hint="ask the index's operator, or choose another version",
        )
    reason = f": {release.yanked_reason}" if release.yanked_reason else ""
    return NotFound(f"{document.name} {release.version} is {release.state}{reason}", hint="choose another version")


def _nothing_fits(
    requirement: Requirement,
    offer: Offer,
    document: PackDocument,
    releases: Sequence[tuple[Version, ReleaseSummary]],
) -> NotFound:
    unfinished = [one for one in offer.candidates if not one.is_yanked and fits(requirement, one, offer.tags)]
    hint = "ask for one of these versions" if _listed(releases, lambda state: state == LIVE) else ""
    if unfinished:
        hint = f"only a pre-release fits; ask for it with {document.name}@{unfinished[0].version}"
    return NotFound(
        f"no release of {document.name} fits {str(requirement)!r}",
        why=_describe(releases),
        hint=hint,
        details={"name": document.name, "versions": [release.version for _, release in releases]},
    )


def _nothing_given(requirement: Requirement, offer: Offer) -> Conflict:
    there = ", ".join(
        f"{one.version}{', which is installed' if one.standing is Standing.INSTALLED else ', which you gave'}"
        for one in offer.candidates
    )
    return Conflict(
        f"{str(requirement)!r} isn't the {offer.name} that is there",
        why=f"there is {there or 'none'}",
        hint="correct the requirement, or leave that pack out",
    )


def _describe(releases: Sequence[tuple[Version, ReleaseSummary]]) -> str:
    live = _listed(releases, lambda state: state == LIVE)
    other = _listed(releases, lambda state: state != LIVE, with_state=True)
    parts = [f"there is {', '.join(live)}" if live else "there is no live release"]
    return "; ".join(parts + ([f"and not for choosing: {', '.join(other)}"] if other else []))


def _listed(
    releases: Sequence[tuple[Version, ReleaseSummary]], wanted: Callable[[str], bool], *, with_state: bool = False
) -> list[str]:
    texts = [f"{one.version} ({one.state})" if with_state else one.version for _, one in releases if wanted(one.state)]
    return [
        *texts[:MAX_SHOWN_VERSIONS],
        *([f"{len(texts) - MAX_SHOWN_VERSIONS} older ones"] if len(texts) > MAX_SHOWN_VERSIONS else []),
    ]
