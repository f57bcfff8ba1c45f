"""Which release of one pack answers a requirement. Several packs that require each other aren't resolved here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Conflict, InvalidInput, NotFound, Unavailable
from market.names import Version, parse_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.client.wire import PackDocument, ReleaseSummary
    from market.names import Requirement

LIVE = "live"
YANKED = "yanked"
MAX_SHOWN_VERSIONS = 20


def choose_release(requirement: Requirement, document: PackDocument) -> ReleaseSummary:
    """Choose the newest live release that fits a requirement.

    A yanked release is chosen only when pinned exactly, a pre-release only when pinned, tagged, asked for by the specifier or
    when nothing else fits; held, quarantined and deleted ones never. Raises `NotFound`, naming what there is, and `Conflict`
    where the pack belongs to another publisher than the requirement says.
    """
    _check_publisher(requirement, document)
    releases = sorted(_readable(document), key=lambda pair: pair[0], reverse=True)
    if requirement.version is not None:
        return _pinned(requirement, document, releases, requirement.version)
    if requirement.tag is not None:
        return _tagged(requirement, document, releases, requirement.tag)
    live = [(version, release) for version, release in releases if release.state == LIVE]
    fitting = [pair for pair in live if _fits(requirement, pair[0])]
    stable = [pair for pair in fitting if not pair[0].is_prerelease or _asks_for_prereleases(requirement)]
    if chosen := stable or fitting:
        return chosen[0][1]
    raise _nothing_fits(requirement, document, releases)


def _check_publisher(requirement: Requirement, document: PackDocument) -> None:
    if requirement.publisher is not None and requirement.publisher != document.publisher:
        raise Conflict(
            f"{document.name} belongs to @{document.publisher}, not to @{requirement.publisher}",
            why="the requirement names the publisher, so another one's pack is not taken",
            hint=f"if that is the one you want, ask for @{document.publisher}/{document.name}",
            details={"name": document.name, "publisher": document.publisher, "asked": requirement.publisher},
        )


def _readable(document: PackDocument) -> list[tuple[Version, ReleaseSummary]]:
    pairs = []
    for release in document.releases:
        try:
            pairs.append((parse_version(release.version), release))
        except InvalidInput:  # a newer index may know versions that this client doesn't
            continue
    return pairs


def _pinned(
    requirement: Requirement,
    document: PackDocument,
    releases: Sequence[tuple[Version, ReleaseSummary]],
    wanted: Version,
) -> ReleaseSummary:
    for version, release in releases:
        if version == wanted and release.state in (LIVE, YANKED):
            return release
        if version == wanted:
            raise _not_offered(document, release)
    raise _nothing_fits(requirement, document, releases)


def _tagged(
    requirement: Requirement, document: PackDocument, releases: Sequence[tuple[Version, ReleaseSummary]], tag: str
) -> ReleaseSummary:
    text = document.latest if tag == "latest" and tag not in document.tags else document.tags.get(tag, "")
    if not text:
        known = ", ".join(sorted(document.tags)) or "none"
        raise NotFound(f"{document.name} has no tag {tag!r}", why=f"its tags: {known}", hint="or ask for a version")
    for version, release in releases:
        if version == parse_version(text):
            if release.state == LIVE:
                return release
            raise _not_offered(document, release)
    raise _nothing_fits(requirement, document, releases)


def _fits(requirement: Requirement, version: Version) -> bool:
    # Pre-releases are sorted out by the caller; `contains` would drop them before it could see that nothing else fits.
    return requirement.specifier is None or requirement.specifier.contains(version.key, prereleases=True)


def _asks_for_prereleases(requirement: Requirement) -> bool:
    return requirement.specifier is not None and bool(requirement.specifier.prereleases)


def _not_offered(document: PackDocument, release: ReleaseSummary) -> Unavailable | NotFound:
    if release.state == "held":
        return Unavailable(
            f"{document.name} {release.version} is held for review",
            hint="ask the index's operator, or choose another version",
        )
    reason = f": {release.yanked_reason}" if release.yanked_reason else ""
    return NotFound(f"{document.name} {release.version} is {release.state}{reason}", hint="choose another version")


def _nothing_fits(
    requirement: Requirement, document: PackDocument, releases: Sequence[tuple[Version, ReleaseSummary]]
) -> NotFound:
    return NotFound(
        f"no release of {document.name} fits {str(requirement)!r}",
        why=_describe(releases),
        hint="ask for one of these versions" if _listed(releases, lambda state: state == LIVE) else "",
        details={"name": document.name, "versions": [release.version for _, release in releases]},
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
