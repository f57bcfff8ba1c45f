"""From an order to its plan and its arrivals: the one road of `market install`, `upgrade` and the host, up to the transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from market.installer.closure import acquire_closure, find_closure, reopen_closure
from market.installer.dependencies import DependencyTerms, check_allowed
from market.installer.machine import Machine
from market.installer.needs import check_needs
from market.installer.preview import preview
from market.installer.wheels import check_dependencies
from market.resolve.policy import Policy, highest_class

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from market.client.indexes import Indexes
    from market.client.wire import PackDocument, ReleaseSummary
    from market.installer.closure import Order
    from market.installer.preview import PlannedPack
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.model import SkillClass
    from market.resolve.resolve import Pick


@dataclass(frozen=True)
class Terms:
    """Under which terms something is installed: how old a release must be, on which machine, whether all needs must be met.

    `dependencies` are those of Python code in wheels.
    """

    minimum_age: Mapping[SkillClass, timedelta] = field(default_factory=dict)
    machine: Machine = field(default_factory=Machine)
    strict_needs: bool = False
    dependencies: DependencyTerms = field(default_factory=DependencyTerms)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an order comes to. `arrivals` are verified and may be installed; for a dry run they are only what was at hand."""

    picks: tuple[Pick, ...]
    arrivals: tuple[Arrival, ...]
    plan: tuple[PlannedPack, ...]


def prepare(
    root: Root, indexes: Indexes, order: Order, terms: Terms, now: datetime, *, dry_run: bool = False
) -> Prepared:
    """Resolve an order, fetch it unless it is a dry run, and refuse what could never work here. Nothing is written into the root."""
    picks = find_closure(root, indexes, order, make_policy(indexes, terms, now))
    acquire = reopen_closure if dry_run else acquire_closure
    arrivals = acquire(picks, indexes, order.given, terms.dependencies)
    plan = preview(root, picks, indexes, arrivals, terms.machine, with_dependencies=terms.dependencies.fetch)
    check_needs(plan, strict=terms.strict_needs)
    for facts in (planned.facts for planned in plan if planned.facts):
        # Of what a dry run doesn't download, the index says it.
        check_allowed(facts.name, [row[2] for row in facts.skills], facts.requires or (), terms.dependencies)
    for arrival in arrivals:
        # What was put together elsewhere, for a bundle, wasn't held against the terms of this machine.
        check_dependencies(arrival.verified, terms.dependencies)
    return Prepared(picks, arrivals, plan)


def make_policy(indexes: Indexes, terms: Terms, now: datetime) -> Policy:
    """Return the policy of the resolver under some terms. A release's class is asked of the index where its age leaves it open."""

    def find_class(document: PackDocument, release: ReleaseSummary) -> SkillClass:
        skills = indexes.release(document.name, release.version).skills
        return highest_class([skill.skill_class for skill in skills])

    return Policy(now, terms.minimum_age, find_class, terms.machine.find_unmet)
