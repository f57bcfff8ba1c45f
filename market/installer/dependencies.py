"""What a wheel's Python code depends on: whether it may be fetched here, which releases that comes to, and fetching exactly these.

Which index is asked is uv's own configuration (or pip's variables). Only built wheels are taken: nothing of a dependency runs here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from market.cancellation import NEVER
from market.disk.failures import disk_failures
from market.errors import Conflict, InvalidInput, MarketError, Refused, Untrusted
from market.installer.composition import (
    dump_dependencies,
    find_surplus,
    find_uncovered,
    metadata_file,
    parse_dependencies,
)
from market.installer.uv import UvFailed, run_uv
from market.installer.uv_reasons import explain_uv
from market.model import SkillClass
from market.pack.wheel_metadata import parse_requires

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from market.cancellation import Cancellation
    from market.installer.composition import Composition, Dependency
    from market.installer.root import Root
    from market.trust.verify import VerifiedPack

FORBID_VARIABLE = "MARKET_FORBID_DEPENDENCIES"
ALL_CLASSES = "all"
SITE = "site"
"""The folder of a workplace that is filled."""

_ONLY_WHEELS = ("--only-binary", ":all:")
# Pinned lines and nothing else: where a release came from is no part of what it is.
_PLAIN = ("--generate-hashes", "--no-header", "--no-annotate")
# What uv says where a pinned release has other files than those whose hashes are known.
_OTHER_BYTES = "Hash mismatch"
# What it says where the pins aren't enough on this Python or system.
_NOT_FOR_HERE = (
    "no trusted hash was provided",
    "no wheels with a matching",
    "only has wheels",
    "no wheels are available",
)


@dataclass(frozen=True, slots=True)
class DependencyTerms:
    """How Python dependencies are treated. Without `fetch` they are left out; a pack of a class in `forbidden_for` may have none.

    A pack that stands in the root `reuse` in the very release keeps what was fetched for it; None resolves them anew.
    `cancellation` ends the fetching.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    fetch: bool = True
    forbidden_for: frozenset[SkillClass] = frozenset()
    reuse: Root | None = None
    cancellation: Cancellation = NEVER


def make_dependency_terms(
    environ: Mapping[str, str], *, fetch: bool = True, reuse: Root | None = None, cancellation: Cancellation = NEVER
) -> DependencyTerms:
    """Return the terms of the environment. `MARKET_FORBID_DEPENDENCIES` lists classes, separated by commas, or says `all`."""
    words = [word.strip().lower() for word in environ.get(FORBID_VARIABLE, "").split(",") if word.strip()]
    try:
        classes = frozenset(SkillClass) if ALL_CLASSES in words else frozenset(SkillClass(word) for word in words)
    except ValueError:
        raise InvalidInput(
            f"{FORBID_VARIABLE} is {environ[FORBID_VARIABLE]!r}", hint="list safe, mutating, dangerous, or write all"
        ) from None
    return DependencyTerms(environ, fetch, classes, reuse, cancellation)


def check_allowed(name: str, having: Iterable[str], requires: Sequence[str], terms: DependencyTerms) -> None:
    """Raise `Refused` where a pack has dependencies that its skills, `having` these classes, may not have here."""
    classes = sorted({*having} & terms.forbidden_for)
    if requires and classes:
        raise Refused(
            f"{name} depends on {', '.join(requires)}",
            why=f"this operator forbids dependencies of packs with {' and '.join(classes)} skills ({FORBID_VARIABLE})",
            hint="ask for a pack without dependencies",
        )


def resolve_dependencies(
    name: str, requires: Sequence[str], work: Path, terms: DependencyTerms
) -> tuple[Dependency, ...]:
    """Return the newest releases that a pack's code comes to on this Python, with all that these depend on in turn.

    Raises as `explain_uv`, naming the pack.
    """
    try:
        said = run_uv(
            ("compile", "-", *_PLAIN, *_ONLY_WHEELS), "\n".join(requires), work, terms.environ, terms.cancellation
        )
        return parse_dependencies(said, "uv")
    except UvFailed as error:
        raise explain_uv(name, requires, str(error), work) from None


def fetch_dependencies(
    wheel: VerifiedPack, dependencies: Sequence[Dependency], work: Path, terms: DependencyTerms, *, is_whole: bool
) -> None:
    """Fetch exactly these releases into the folder `site` of a workplace, each file held against its hashes.

    `is_whole` where they were resolved here just now; else it is checked that they need no others. Raises `Unavailable` where
    one can't be had, `Untrusted` where it has other bytes, `Conflict` where pinned ones aren't enough on this Python or system, or
    their index no longer has them; the folder may hold a part of it then.
    """
    command = ["install", "--target", str(work / SITE), *_ONLY_WHEELS, "--link-mode", "copy", "--no-compile-bytecode"]
    command += ["--require-hashes", "--requirements", "-", *(["--no-deps"] if is_whole else [])]
    try:
        run_uv(command, dump_dependencies(dependencies), work, terms.environ, terms.cancellation)
    except UvFailed as error:
        raise _why_not_fetched(wheel, dependencies, str(error), work, is_whole=is_whole) from None


def check_covered(wheel: VerifiedPack, requires: Sequence[str], locked: Composition) -> None:
    """Raise `Conflict` where what a pack depends on here is met by no pin of its lock file: another Python may need others."""
    if missing := () if locked.left_out else find_uncovered(requires, locked.dependencies):
        rows = [f"{one.text}, and {f'{one.name} {one.there}' if one.there else 'none'} is pinned" for one in missing]
        raise not_for_here(wheel, f"here it depends on {'; on '.join(rows)}")


def check_wanted(wheel: VerifiedPack, work: Path, locked: Composition) -> None:
    """Raise `Conflict` where a lock file pins what neither the wheel nor any of what was fetched for it depends on."""
    requires = {"": parse_requires(wheel.source.read(metadata_file(wheel.source)))}
    with disk_failures("read", work):
        for folder in (work / SITE).glob("*.dist-info"):
            name = canonicalize_name(folder.name.partition("-")[0])
            requires[name] = parse_requires((folder / "METADATA").read_bytes())
    if surplus := find_surplus(requires, locked.dependencies):
        raise not_for_here(wheel, f"nothing in it depends on {', '.join(surplus)}")


def not_for_here(wheel: VerifiedPack, why: str) -> Conflict:
    """Return the error for pins that another Python or system, or another day, made."""
    return Conflict(
        f"the pinned dependencies of {wheel.name} don't do on this Python and system", why=why, hint=_pin_anew(wheel)
    )


def _pin_anew(wheel: VerifiedPack) -> str:
    release = f"{wheel.name}@{wheel.version.text}"
    return f"resolve them here and pin what that comes to: `market install {release} --refresh-deps --lock`"


def _why_not_fetched(
    wheel: VerifiedPack, dependencies: Sequence[Dependency], why: str, work: Path, *, is_whole: bool
) -> MarketError:
    if _OTHER_BYTES in why:
        return Untrusted(
            f"a dependency of {wheel.name} has other bytes than were pinned",
            why=why,
            hint="one of the package indexes gives another file under the same version: find out which is the true one",
        )
    if any(text in why for text in _NOT_FOR_HERE):
        return not_for_here(wheel, why)
    pins = [f"{one.name}=={one.version}" for one in dependencies]
    if is_whole:
        return explain_uv(wheel.name, pins, why, work)
    error = explain_uv(wheel.name, pins, why, work, can_be_left_out=False)
    if isinstance(error, InvalidInput):
        text = f"a pinned dependency of {wheel.name} can't be had any more: {', '.join(pins)}"
        return Conflict(text, why=why, hint=_pin_anew(wheel))
    return error
