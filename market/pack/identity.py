"""Which name and version a pack has: the caller's, its manifest's, its single skill's, or its folder's. One written order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.errors import InvalidInput
from market.names import parse_pack_name, parse_version
from market.pack.rules import make_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from market.errors import Problem
    from market.names import PackName, Version
    from market.pack.pack_manifest import PackManifest


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller knows and the tree needn't say. What is given wins over what the tree says."""

    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One place that could name the pack or its version."""

    text: str
    file: str
    place: tuple[int, int] = (0, 0)


def choose_pack_name(
    given: Given, manifest: PackManifest | None, names: Sequence[tuple[str, str]], source_name: str
) -> tuple[PackName | None, list[Problem]]:
    """Return the pack's name: given > manifest > its own skill > folder. A skill's name that is no pack name is passed over.

    `names` are those in the manifests of the only folder with skills, or of the top, as file and text.
    """
    own = _own_candidate(manifest, "name", manifest.name) if manifest else None
    if given.name:
        return _take_given_name(given.name, own)
    problems: list[Problem] = []
    for candidate in [own] if own else [*_name_of_skill(names), Candidate(source_name, "")]:
        name, problem = _parse_name(candidate)
        if name is not None:
            return name, []
        problems.extend([problem] if problem and candidate.text else [])
    return None, problems[:1] or [make_problem("pack-name", "nothing names the pack")]


def choose_version(
    given: Given, manifest: PackManifest | None, versions: Sequence[Candidate], home: str
) -> tuple[Version | None, list[Problem]]:
    """Return the pack's version: given > manifest > its single skill's. None comes with the problem that says why.

    `home` is the file into which a missing version should be written.
    """
    own = _own_candidate(manifest, "version", manifest.version) if manifest else None
    found = own or next(iter(versions), None)
    if given.version:
        version, problem = _parse_version(Candidate(given.version, ""))
        if version and found and _parse_version(found)[0] not in (version, None):
            text = f"{found.file} says {found.text!r}, {given.version!r} was given"
            return version, [make_problem("version-overridden", text, found.file, found.place)]
        return version, [problem] if problem else []
    if found is None:
        return None, [
            make_problem("version-missing", "nothing gives the pack a version", home, (1, 1) if home else (0, 0))
        ]
    version, problem = _parse_version(found)
    return version, [problem] if problem else []


def find_conflicts(
    given: Given, manifest: PackManifest | None, others: Sequence[PackManifest], versions: Sequence[Candidate]
) -> Iterator[Problem]:
    """Yield where manifests of one folder contradict each other: readers of the one see another pack than readers of the other.

    `others` are pack manifests that stand beside the one that counts, `versions` those of the skill in the same folder.
    """
    if manifest and not given.name:
        names = [_own_candidate(other, "name", other.name) for other in (manifest, *others)]
        yield from _find_conflict("name", [one for one in names if one], _parse_name)
    if not given.version:
        own = [_own_candidate(other, "version", other.version) for other in (*filter(None, (manifest,)), *others)]
        yield from _find_conflict("version", [*filter(None, own), *versions], _parse_version)


def _find_conflict(
    what: str,
    candidates: Sequence[Candidate],
    parse: Callable[[Candidate], tuple[object | None, Problem | None]],
) -> Iterator[Problem]:
    for other in candidates[1:]:
        first = candidates[0]
        values = [parse(one)[0] for one in (first, other)]
        if None not in values and values[0] != values[1]:
            at, against = (other, first) if other.place != (0, 0) else (first, other)
            text = f"the {what} is {at.text!r} here and {against.text!r} in {against.file}"
            yield make_problem("manifest-conflict", text, at.file, at.place)


def _own_candidate(manifest: PackManifest, key: str, text: str) -> Candidate | None:
    return Candidate(text, manifest.file, manifest.places.get(key, (0, 0))) if text else None


def _take_given_name(given: str, own: Candidate | None) -> tuple[PackName | None, list[Problem]]:
    name, problem = _parse_name(Candidate(given, ""))
    if problem:
        return None, [problem]
    if own is None or _parse_name(own)[0] == name:
        return name, []
    text = f"{own.file} says {own.text!r}, {given!r} was given"
    return name, [make_problem("name-overridden", text, own.file, own.place)]


def _name_of_skill(names: Sequence[tuple[str, str]]) -> list[Candidate]:
    """Two skills of one folder name nothing: neither is the pack."""
    return [Candidate(name, file) for file, name in names] if len(names) == 1 else []


def _parse_name(candidate: Candidate) -> tuple[PackName | None, Problem | None]:
    try:
        return parse_pack_name(candidate.text), None
    except InvalidInput as error:
        return None, make_problem(
            "pack-name", error.message, candidate.file, candidate.place, reason=error.why, fix=error.hint
        )


def _parse_version(candidate: Candidate) -> tuple[Version | None, Problem | None]:
    try:
        return parse_version(candidate.text), None
    except InvalidInput as error:
        return None, make_problem(
            "version-invalid", error.message, candidate.file, candidate.place, reason=error.why, fix=error.hint
        )
