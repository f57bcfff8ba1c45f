"""From what somebody asks for to exact releases of it and of everything that it requires. Pure: an index is a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvelib import ResolutionImpossible, ResolutionTooDeep
from resolvelib.resolvers import Resolution

from market.errors import Conflict
from market.resolve.candidates import Candidate, PassedOver, Prefer, Standing, fits
from market.resolve.choose import check_answerable
from market.resolve.conflict import explain
from market.resolve.policy import Policy
from market.resolve.provider import PackProvider, Wish
from market.resolve.reporter import TriedReporter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from resolvelib.resolvers import Criterion

    from market.client.wire import PackDocument
    from market.names import Requirement

MAX_ROUNDS = 20_000
MAX_PASSES = 10
"""How often installed packs that a first solution would break may join, before it counts as a conflict."""


@dataclass(frozen=True, slots=True)
class Pick:
    """One release of the solution. `required_by` names who wants it, empty for the person who asked alone.

    `passed_over` are newer releases that fit, but may not be installed.
    """

    candidate: Candidate
    required_by: tuple[str, ...] = ()
    is_asked_for: bool = False
    passed_over: tuple[PassedOver, ...] = ()

    @property
    def name(self) -> str:
        """The pack's name."""
        return self.candidate.name


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be resolved: wishes of the person who asks, what is installed and what was handed over."""

    wishes: Sequence[Wish]
    installed: Mapping[str, Candidate]
    given: Mapping[str, Candidate]
    follow: bool = True


@dataclass(frozen=True, slots=True)
class _Solution:
    """The chosen candidates by name, and who wants each."""

    mapping: Mapping[str, Candidate]
    criteria: Mapping[str, Criterion[Wish, Candidate]]


def resolve(question: Question, find: Callable[[str], PackDocument], policy: Policy | None = None) -> tuple[Pick, ...]:
    """Return a pick for every wish and for all that is required, in the order of names.

    `find` returns a pack's document and raises `NotFound` where no index knows it; what else it raises ends the search. An
    installed pack stays as it is where it is good enough; one that the solution would break takes part in it, with what it
    requires. Raises `NotFound`, `Conflict` or `Refused`, with who wants what, what was tried and what to change.
    """
    provider = PackProvider(find, {**question.installed, **question.given}, policy or Policy(), follow=question.follow)
    _check_wishes(question.wishes, provider)
    wishes = list(question.wishes)
    for _ in range(MAX_PASSES):
        result = _run(wishes, provider)
        broken = _find_broken(question, result.mapping, provider, wishes) if question.follow else []
        if not broken:
            return _picks(question.wishes, result, provider)
        wishes += broken
    raise Conflict("the installed packs can't be kept together with this", hint="upgrade them first: `market upgrade`")


def _check_wishes(wishes: Sequence[Wish], provider: PackProvider) -> None:
    """Raise the plain error of one pack before several are looked at together."""
    for wish in wishes:
        offer = provider.offer(wish.requirement.name)
        if wish.requirement.name in provider.absent and (wish.prefer is Prefer.NEWEST or not offer.candidates):
            raise provider.absent[wish.requirement.name]
        check_answerable(wish.requirement, offer)


def _run(wishes: Sequence[Wish], provider: PackProvider) -> _Solution:
    reporter = TriedReporter()
    try:
        state = Resolution(provider, reporter).resolve(wishes, max_rounds=MAX_ROUNDS)
    except ResolutionImpossible as impossible:
        raise explain(impossible.causes, provider, reporter.tried) from None
    except ResolutionTooDeep:
        raise Conflict(
            f"no solution was found in {MAX_ROUNDS} steps",
            why=f"tried and given up: {', '.join(reporter.tried[-5:])}",
            hint="name exact releases of the packs that are required by many",
        ) from None
    return _Solution(_reach(wishes, state.mapping, provider), state.criteria)


def _reach(wishes: Sequence[Wish], chosen: Mapping[str, Candidate], provider: PackProvider) -> dict[str, Candidate]:
    """Return those of the chosen that the wishes lead to.

    After a step back some may be left over that nobody wants any more. `Resolver` looks for them from the other end, and where two
    left-overs want each other it never ends (resolvelib 1.2.1), so its last step is done here.
    """
    reached: dict[str, Candidate] = {}
    ahead = [wish.requirement.name for wish in wishes]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached[name] = chosen[name]
            ahead += [wish.requirement.name for wish in provider.get_dependencies(chosen[name])]
    return reached


def _find_broken(
    question: Question, mapping: Mapping[str, Candidate], provider: PackProvider, wishes: Sequence[Wish]
) -> list[Wish]:
    """Return the requirements of installed packs, outside of the solution or kept by it, that the solution doesn't meet."""
    changed = {name for name, one in mapping.items() if one.standing is not Standing.INSTALLED}
    known = {(str(wish.requirement), wish.by) for wish in wishes}
    broken = []
    for holder in question.installed.values():
        if holder.name in changed:
            continue
        for requirement in holder.requires:
            if requirement.name in changed and not fits(
                requirement, mapping[requirement.name], _tags(requirement, provider)
            ):
                wish = Wish(requirement, by=f"{holder}, which is installed,")
                if (str(requirement), wish.by) not in known:
                    broken.append(wish)
    return broken


def _tags(requirement: Requirement, provider: PackProvider) -> Mapping[str, str]:
    return provider.offer(requirement.name).tags if requirement.tag else {}


def _picks(wishes: Sequence[Wish], result: _Solution, provider: PackProvider) -> tuple[Pick, ...]:
    asked = {wish.requirement.name for wish in wishes}
    return tuple(
        Pick(
            candidate,
            tuple(sorted(_wanting(name, result))),
            name in asked,
            _newer(candidate, [row.requirement.requirement for row in result.criteria[name].information], provider),
        )
        for name, candidate in sorted(result.mapping.items())
    )


def _wanting(name: str, result: _Solution) -> set[str]:
    """Return who in the solution requires a pack; those that were given up want it no more."""
    parents = [row.parent for row in result.criteria[name].information if row.parent is not None]
    return {one.name for one in parents if result.mapping.get(one.name) is one}


def _newer(candidate: Candidate, requirements: Sequence[Requirement], provider: PackProvider) -> tuple[PassedOver, ...]:
    offer = provider.known_offer(candidate.name)
    if offer is None or candidate.standing is Standing.GIVEN:
        return ()
    return tuple(
        one
        for one in offer.passed_over
        if one.version > candidate.version
        and (candidate.version.is_prerelease or not one.version.is_prerelease)
        and all(_is_open(each, one) for each in requirements)
    )


def _is_open(requirement: Requirement, one: PassedOver) -> bool:
    if requirement.version is not None or requirement.tag is not None:
        return False
    return requirement.specifier is None or requirement.specifier.contains(one.version.key, prereleases=True)
