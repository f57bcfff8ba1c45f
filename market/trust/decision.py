"""Decisions: may this be done, and why. How several become one is here; who decides is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something is allowed, and the reason in words that whoever asked can act on."""

    allowed: bool
    reason: str


def allow(reason: str) -> Decision:
    """Return a decision that has no objection."""
    return Decision(True, reason)


def deny(reason: str) -> Decision:
    """Return a decision that forbids."""
    return Decision(False, reason)


def combine(own: Iterable[Decision | None], others: Iterable[Decision | None]) -> Decision:
    """Make one decision of many: the strictest wins. None is silence.

    `own` are those of Market's rules, `others` those of plugins. Only an own rule can allow: where all of them are silent nothing
    is allowed, whatever a plugin says. So another decision among `others` never allows more.

    >>> combine([allow("an admin may")], [None, deny("not on this machine")])
    Decision(allowed=False, reason='not on this machine')
    >>> combine([None], [allow("why not")]).allowed
    False
    """
    ours = [decision for decision in own if decision is not None]
    theirs = [decision for decision in others if decision is not None]
    denials = [decision for decision in (*ours, *theirs) if not decision.allowed]
    if denials:
        return deny("; ".join(dict.fromkeys(decision.reason for decision in denials)))
    return ours[0] if ours else deny("no rule allows it")
