"""What the operator and the machine allow: how old a release must be, and what its needs must not exclude. Pure.

Where the ages are written is in `market.client.settings`; what the machine is, in `market.installer.machine`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from market.errors import InvalidInput
from market.model import SkillClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from market.client.wire import PackDocument, ReleaseSummary

AGE_SETTING = "minimum-release-age"
MAX_AGE = timedelta(days=3650)
ORDER = (SkillClass.SAFE, SkillClass.MUTATING, SkillClass.DANGEROUS)
"""From the least to the most that a skill may do."""

_UNITS = {"": "seconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"(\d{1,9})\s*([smhdw]?)")


_FAR_FUTURE = datetime.max.replace(tzinfo=UTC)


def _fits_every_machine(needs: Mapping[str, Any]) -> tuple[str, ...]:
    return ()


def _unknown_class(document: PackDocument, release: ReleaseSummary) -> SkillClass:
    return SkillClass.DANGEROUS


@dataclass(frozen=True, slots=True)
class Policy:
    """What restricts the choice of releases; by default nothing does.

    `minimum_age` is by the highest class among a release's skills, and `find_class` says which that is (it may ask the index,
    so it is called only where the answer counts). `find_unmet` says which needs of a release this machine can never meet.
    """

    now: datetime = _FAR_FUTURE
    minimum_age: Mapping[SkillClass, timedelta] = field(default_factory=dict)
    find_class: Callable[[PackDocument, ReleaseSummary], SkillClass] = _unknown_class
    find_unmet: Callable[[Mapping[str, Any]], tuple[str, ...]] = _fits_every_machine


def parse_age(text: str) -> timedelta:
    """Parse how old a release must be: `24h`, `3d`, `90m`, `2w`, `0` for no limit.

    >>> parse_age("36h")
    datetime.timedelta(days=1, seconds=43200)
    """
    match = _AGE.fullmatch(text.strip())
    age = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else None
    if age is None or age > MAX_AGE or (match and not match[2] and age):
        raise InvalidInput(
            f"{text[:40]!r} is not an age",
            why="a number and one of m, h, d, w",
            hint="for example 24h, 3d, or 0 for none",
        )
    return age


def parse_ages(texts: Mapping[str, str]) -> dict[SkillClass, timedelta]:
    """Parse ages by the names of classes, as settings give them."""
    return {SkillClass(name): parse_age(text) for name, text in texts.items()}


def find_too_young(document: PackDocument, release: ReleaseSummary, policy: Policy) -> str:
    """Return why a release is too young to be chosen; empty where it isn't. One without a readable date counts as just published."""
    ages = [age for age in policy.minimum_age.values() if age]
    if not ages:
        return ""
    published = _parse_moment(release.published_at)
    age = policy.now - published if published else timedelta(0)
    if age >= max(ages):
        return ""
    skill_class = policy.find_class(document, release)
    wanted = policy.minimum_age.get(skill_class, timedelta(0))
    if age >= wanted:
        return ""
    when = (
        f"was published {age_text(age)} ago" if published else f"has no readable date ({release.published_at[:40]!r})"
    )
    return f"it {when}, and {AGE_SETTING} for {skill_class} skills is {age_text(wanted)}"


def age_text(age: timedelta) -> str:
    """Return an age in the largest unit that says it roughly.

    >>> age_text(timedelta(hours=30)), age_text(timedelta(days=3))
    ('30 h', '3 days')
    """
    seconds = max(age.total_seconds(), 0)
    if seconds >= 2 * 86400:
        return f"{seconds / 86400:.0f} days"
    return f"{seconds / 3600:.0f} h" if seconds >= 2 * 3600 else f"{seconds / 60:.0f} min"


def highest_class(names: list[str]) -> SkillClass:
    """Return the highest of some class names; a name that isn't known counts as the highest.

    >>> highest_class(["safe", "mutating"])
    <SkillClass.MUTATING: 'mutating'>
    """
    known = [SkillClass(name) if name in tuple(SkillClass) else SkillClass.DANGEROUS for name in names]
    return max(known, key=ORDER.index, default=SkillClass.SAFE)


def _parse_moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
