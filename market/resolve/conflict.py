"""Why packs can't be had together, in sentences: who wants what, what there is, what was tried, what to change. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import Conflict, MarketError, NotFound, Refused
from market.resolve.candidates import Standing
from market.resolve.choose import list_versions
from market.resolve.policy import AGE_SETTING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from resolvelib.structs import RequirementInformation

    from market.resolve.candidates import Candidate, Offer
    from market.resolve.provider import PackProvider, Wish

MAX_SHOWN_TRIED = 12


def explain(
    causes: Iterable[RequirementInformation[Wish, Candidate]], provider: PackProvider, tried: Sequence[str]
) -> MarketError:
    """Return the error for a set of requirements that no releases meet together."""
    rows = list({(str(row.requirement.requirement), _holder(row)): row for row in causes}.values())
    names = sorted({row.requirement.requirement.name for row in rows})
    absent = [name for name in names if name in provider.absent and not provider.offer(name).candidates]
    details = {
        "wants": [{"by": _holder(row) or "you", "requires": str(row.requirement.requirement)} for row in rows],
        "tried": list(tried),
    }
    wants = "; ".join(_want(row) for row in rows)
    if absent:
        return _unknown(absent[0], wants, tried, details)
    there = "; ".join(_there(provider.offer(name)) for name in names)
    forbidden = [one for name in names for one in provider.offer(name).passed_over]
    kind = Refused if forbidden and len(rows) == 1 else Conflict
    return kind(
        _headline(rows, names),
        why=". ".join(part for part in (wants, there, _tried(tried)) if part),
        hint=_hint(rows, names, any(one.is_policy for one in forbidden)),
        details=details,
    )


def _unknown(name: str, wants: str, tried: Sequence[str], details: dict[str, object]) -> NotFound:
    return NotFound(
        f"the pack {name}, which is required, is on no index that serves this name",
        why=". ".join(part for part in (wants, _tried(tried) if len(tried) > 1 else "") if part),
        hint="configure the index that has it; or install without it: --no-deps",
        details={**details, "name": name},
    )


def _headline(rows: Sequence[RequirementInformation[Wish, Candidate]], names: Sequence[str]) -> str:
    what = " and ".join(names)
    if len(rows) == 1:
        return f"nothing fits what {_holder(rows[0]) or 'you ask'} requires of {what}"
    holders = sorted({_holder(row) or "what you ask for" for row in rows})
    if len(holders) == 1:
        return f"{holders[0]} wants releases of {what} that can't be had together"
    return f"{', '.join(holders[:-1])} and {holders[-1]} can't be installed together: they disagree on {what}"


def _holder(row: RequirementInformation[Wish, Candidate]) -> str:
    if row.parent is None:
        return row.requirement.by
    return f"{row.parent}{', which is installed,' if row.parent.standing is Standing.INSTALLED else ''}"


def _want(row: RequirementInformation[Wish, Candidate]) -> str:
    requirement = row.requirement.requirement
    holder = _holder(row)
    return f"{holder} requires {requirement}" if holder else f"you ask for {requirement}"


def _there(offer: Offer) -> str:
    parts = [f"of {offer.name} {list_versions(offer.document)}"] if offer.document else []
    parts += [
        f"{one.name} {one.version} is {'installed' if one.standing is Standing.INSTALLED else 'given'}"
        for one in offer.candidates
        if one.standing is not Standing.INDEX
    ]
    parts += [f"{offer.name} {one.version} may not be installed here: {one.why}" for one in offer.passed_over[:3]]
    return ", ".join(parts)


def _tried(tried: Sequence[str]) -> str:
    more = len(tried) - MAX_SHOWN_TRIED
    return (
        f"tried and given up: {', '.join(tried[:MAX_SHOWN_TRIED])}{f' and {more} more' if more > 0 else ''}"
        if tried
        else ""
    )


def _hint(rows: Sequence[RequirementInformation[Wish, Candidate]], names: Sequence[str], by_age: bool) -> str:
    if by_age:
        return f"wait, or override once with --{AGE_SETTING} 0"
    installed = sorted(
        {row.requirement.by.partition(" ")[0] for row in rows if row.parent is None and row.requirement.by}
    )
    if installed:
        return f"upgrade or uninstall {' and '.join(installed)} too, or ask for a release of {names[0]} that it accepts"
    parents = sorted({row.parent.name for row in rows if row.parent})
    if parents:
        return f"ask for other releases of {' or '.join(parents)}, or ask their publishers to agree on {' and '.join(names)}"
    return f"ask for {' and '.join(names)} once"
