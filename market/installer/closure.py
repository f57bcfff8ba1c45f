"""What must be installed so that what somebody asks for works in a root: the resolver's answer, and its arrivals.

The command line and the host share this road. The rules are in `market.resolve`; the transaction is in `transaction.py`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.disk.lease import lease_directory
from market.disk.read import read_within
from market.errors import Conflict, MarketError
from market.installer.acquire import acquire_release, reopen_release
from market.installer.receipt import load_pack_receipts
from market.names import Requirement
from market.pack.pack_manifest import parse_pack_yaml
from market.pack.text import MAX_MANIFEST_BYTES
from market.resolve.candidates import Candidate, Prefer, Standing
from market.resolve.provider import Wish
from market.resolve.resolve import Question, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from market.client.indexes import Indexes
    from market.installer.dependencies import DependencyTerms
    from market.installer.receipt import Receipt
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.resolve.policy import Policy
    from market.resolve.resolve import Pick

PACK_MANIFEST = "pack.yaml"


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody wants: packs by requirement, packs that were handed over, and whether what they require comes too."""

    wishes: tuple[Wish, ...]
    given: tuple[Arrival, ...] = ()
    follow: bool = True


def order_newest(requirements: Sequence[Requirement], given: Sequence[Arrival] = (), *, follow: bool = True) -> Order:
    """Return the order of an install: the newest releases that fit, and what was handed over."""
    return Order(tuple(Wish(one, Prefer.NEWEST) for one in requirements), tuple(given), follow)


def find_closure(root: Root | None, indexes: Indexes, order: Order, policy: Policy) -> tuple[Pick, ...]:
    """Return the releases that an order comes to in a root, those that stay as they are among them. Nothing is downloaded.

    Without a root nothing is installed yet.
    """
    _check_given(order.given)
    given = {str(arrival.verified.name): _given_candidate(arrival) for arrival in order.given}
    wishes = (*order.wishes, *(Wish(Requirement(arrival.verified.name)) for arrival in order.given))
    receipts = load_pack_receipts(root) if root else {}
    installed = {name: _installed_candidate(root, receipt) for name, receipt in receipts.items() if root}
    return resolve(Question(wishes, installed, given, order.follow), indexes.document, policy)


def acquire_closure(
    picks: Sequence[Pick], indexes: Indexes, given: Sequence[Arrival], dependencies: DependencyTerms
) -> tuple[Arrival, ...]:
    """Download and verify what isn't there yet; what was asked for comes first, then what it requires."""
    handed = {str(arrival.verified.name): arrival for arrival in given}
    ordered = sorted(picks, key=lambda pick: not pick.is_asked_for)
    arrivals = [_acquire(pick, indexes, handed, dependencies) for pick in ordered]
    return tuple(arrival for arrival in arrivals if arrival is not None)


def reopen_closure(
    picks: Sequence[Pick], indexes: Indexes, given: Sequence[Arrival], dependencies: DependencyTerms
) -> tuple[Arrival, ...]:
    """Return what is at hand without a download: what was handed over, and wheels that are installed as they should be."""
    releases = [(pick.name, pick.candidate.release) for pick in picks]
    reopened = [
        reopen_release(indexes, name, release, dependencies) for name, release in releases if release is not None
    ]
    return (*given, *(arrival for arrival in reopened if arrival is not None))


def find_unmet_after(root: Root, removed: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return which packs that stay require one of those that go, as (name, requirement)."""
    return tuple(
        (str(name), str(required))
        for name, receipt in load_pack_receipts(root).items()
        if name not in removed
        for required in load_requires(root, receipt.name)
        if required.name in removed
    )


def find_unmet(root: Root, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return what some installed packs require and the root doesn't have, as (name, requirement)."""
    receipts = load_pack_receipts(root)
    return tuple(
        (name, str(required))
        for name in names
        if name in receipts
        for required in load_requires(root, receipts[name].name)
        if required.name not in receipts
    )


def _check_given(given: Sequence[Arrival]) -> None:
    names = [arrival.verified.name for arrival in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Conflict(f"one pack is named twice: {', '.join(twice)}", hint="name each pack once")


def _acquire(pick: Pick, indexes: Indexes, handed: dict[str, Arrival], dependencies: DependencyTerms) -> Arrival | None:
    if pick.candidate.standing is Standing.GIVEN:
        return handed[pick.name]
    release = pick.candidate.release
    return acquire_release(indexes, pick.name, release, dependencies) if release is not None else None


def _given_candidate(arrival: Arrival) -> Candidate:
    verified = arrival.verified
    return Candidate(verified.name, verified.version, arrival.publisher, verified.pack.requires, Standing.GIVEN)


def _installed_candidate(root: Root, receipt: Receipt) -> Candidate:
    requires = load_requires(root, receipt.name)
    return Candidate(receipt.pack_name, receipt.version, receipt.publisher, requires, Standing.INSTALLED)


def load_requires(root: Root, name: str) -> tuple[Requirement, ...]:
    """Return what an installed pack requires, as its tree says; one that can't be read requires nothing."""
    try:
        descriptor = lease_directory(root.tree(name))
        try:
            data = read_within(descriptor, PACK_MANIFEST, MAX_MANIFEST_BYTES)
        finally:
            os.close(descriptor)
    except MarketError:
        return ()
    return parse_pack_yaml(data).requires if b"requires" in data else ()
