"""What resolvelib must know of packs: who is who, what fits, what a release requires. The algorithm is resolvelib's. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvelib import AbstractProvider

from market.errors import NotFound
from market.resolve.candidates import Candidate, Offer, Prefer, Standing, fits, make_offer, select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from resolvelib.structs import RequirementInformation

    from market.client.wire import PackDocument
    from market.names import Requirement
    from market.resolve.policy import Policy


@dataclass(frozen=True, slots=True)
class Wish:
    """One requirement, and how eager it is. `by` says who has it where that is no candidate: empty for the person who asks."""

    requirement: Requirement
    prefer: Prefer = Prefer.INSTALLED
    by: str = ""


class PackProvider(AbstractProvider[Wish, Candidate, str]):
    """Offers of packs, each asked for once. `standing` are candidates that need no index: installed ones and given ones.

    A given one is the only candidate of its name. A name that no index knows has an empty offer, and `absent` says why.
    """

    def __init__(
        self,
        find: Callable[[str], PackDocument],
        standing: Mapping[str, Candidate],
        policy: Policy,
        *,
        follow: bool = True,
    ) -> None:
        self._find = find
        self._standing = standing
        self._policy = policy
        self._follow = follow
        self._offers: dict[str, Offer] = {}
        self.absent: dict[str, NotFound] = {}

    def offer(self, name: str) -> Offer:
        """Return all of one pack. What is installed is a candidate of its own, beside the index's."""
        known = self._offers.get(name)
        if known is None:
            known = self._offers[name] = self._make_offer(name)
        return known

    def known_offer(self, name: str) -> Offer | None:
        """Return an offer that was needed already; no index is asked."""
        return self._offers.get(name)

    def identify(self, requirement_or_candidate: Wish | Candidate) -> str:
        """Return the pack's name."""
        if isinstance(requirement_or_candidate, Wish):
            return requirement_or_candidate.requirement.name
        return requirement_or_candidate.name

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[RequirementInformation[Wish, Candidate]]],
        backtrack_causes: Sequence[RequirementInformation[Wish, Candidate]],
    ) -> tuple[bool, bool, str]:
        """Settle first what somebody asked for and what has been in a conflict; then by name, so that every run is the same."""
        in_conflict = any(
            identifier in (cause.requirement.requirement.name, cause.parent.name if cause.parent else "")
            for cause in backtrack_causes
        )
        is_asked_for = any(row.parent is None for row in information[identifier])
        return not in_conflict, not is_asked_for, identifier

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Wish]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> Callable[[], Iterator[Candidate]]:
        """Return what fits all wishes for a name and wasn't excluded, the preferred one first."""
        wishes = list(requirements[identifier])
        excluded = {id(one) for one in incompatibilities[identifier]}
        return lambda: self._each_match(identifier, wishes, excluded)

    def is_satisfied_by(self, requirement: Wish, candidate: Candidate) -> bool:
        """Whether a candidate is what a wish means."""
        offer = self._offers.get(candidate.name)
        return fits(requirement.requirement, candidate, offer.tags if offer else {})

    def get_dependencies(self, candidate: Candidate) -> Iterable[Wish]:
        """Return what a release requires. A pack that requires itself says nothing."""
        if not self._follow:
            return []
        return [Wish(requirement) for requirement in candidate.requires if requirement.name != candidate.name]

    def _each_match(self, name: str, wishes: Sequence[Wish], excluded: set[int]) -> Iterator[Candidate]:
        """Yield what fits. No index is asked as long as what is installed does."""
        prefer = max((wish.prefer for wish in wishes), default=Prefer.INSTALLED)
        requirements = [wish.requirement for wish in wishes]
        standing = self._standing.get(name)
        if standing is not None and prefer is Prefer.INSTALLED and id(standing) not in excluded:
            yield from select(Offer(name, (standing,)), requirements, prefer)
            excluded = {*excluded, id(standing)}
        yield from (one for one in select(self.offer(name), requirements, prefer) if id(one) not in excluded)

    def _make_offer(self, name: str) -> Offer:
        standing = self._standing.get(name)
        own = (standing,) if standing else ()
        if standing is not None and standing.standing is Standing.GIVEN:
            return Offer(name, own)
        try:
            document = self._find(name)
        except NotFound as error:
            self.absent[name] = error
            return Offer(name, own)
        found = make_offer(document, self._policy)
        return Offer(name, (*found.candidates, *own), found.passed_over, document, found.tags)
