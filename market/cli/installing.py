"""Carry out an order on a root, or say what it would do. Resolution, verification and the transaction are in the rooms below."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.cli.composed import missing_lines, missing_rows
from market.cli.live import Shown, await_hosts, host_lines
from market.cli.planning import (
    brief_line,
    item_row,
    passed_over_lines,
    plan_row,
    planned_lines,
    taken_lines,
    total_line,
)
from market.cli.plugged import finding_lines, finding_rows, open_guard
from market.cli.report import dump_problems
from market.cli.text import change_lines, doubt_lines
from market.installer.prepare import Terms, prepare
from market.installer.receipt import load_pack_receipts
from market.installer.transaction import install_packs, lock_root

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.cli.permit import Permit
    from market.client.indexes import Indexes
    from market.errors import Problem
    from market.installer.closure import Order
    from market.installer.plan import Change
    from market.installer.preview import PlannedPack
    from market.installer.root import Root
    from market.installer.transaction import Arrival
    from market.names import Requirement


@dataclass(frozen=True, slots=True)
class Installation:
    """What was installed into a root, or would be: `changes` is empty for a dry run."""

    root: Root
    plan: tuple[PlannedPack, ...]
    arrivals: tuple[Arrival, ...]
    changes: tuple[Change, ...]
    missing: tuple[tuple[str, str], ...]
    shown: tuple[Shown, ...]
    dry_run: bool = False
    seconds: float = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether everything stays as it is."""
        return all(planned.facts is None for planned in self.plan)

    @property
    def document(self) -> dict[str, Any]:
        """The value as `--json` prints it."""
        return {
            "root": str(self.root.path),
            "dry_run": self.dry_run,
            "plan": [plan_row(planned) for planned in self.plan],
            "items": [
                {
                    **item_row(planned, planned.facts, self._change(planned)),
                    "changes": dump_problems(self._imported(planned)),
                    "problems": dump_problems(self._problems(planned)),
                    "findings": finding_rows(self._change(planned)),
                }
                for planned in self.plan
                if planned.facts
            ],
            "missing_requires": missing_rows(self.missing),
            "hosts": [one.document for one in self.shown],
            "seconds": round(self.seconds, 3),
        }

    @property
    def lines(self) -> list[str]:
        """The value in sentences."""
        lines = [
            line
            for planned in self.plan
            for line in planned_lines(
                planned,
                self.root.path,
                self._change(planned),
                [
                    *change_lines(self._imported(planned)),
                    *doubt_lines(self._problems(planned)),
                    *finding_lines(self._change(planned)),
                ],
            )
            if self.dry_run or planned.facts
        ]
        lines += [] if self.dry_run else self.passed_over_lines
        lines += missing_lines(self.missing)
        if self.dry_run:
            return [*lines, total_line(self.plan)]
        return [*lines, *host_lines(self.shown, self.root), f"done in {self.seconds:.2f} s"]

    @property
    def passed_over_lines(self) -> list[str]:
        """Why packs stay as they are although there are newer releases."""
        return [line for planned in self.plan if planned.facts is None for line in passed_over_lines(planned)]

    def _change(self, planned: PlannedPack) -> Change | None:
        return next((change for change in self.changes if change.name == planned.name), None)

    def _imported(self, planned: PlannedPack) -> tuple[Any, ...]:
        return next((one.changes for one in self.arrivals if one.verified.name == planned.name), ())

    def _problems(self, planned: PlannedPack) -> tuple[Problem, ...]:
        return next((one.verified.problems for one in self.arrivals if one.verified.name == planned.name), ())


def carry_out(
    market: Market,
    output: Output,
    root: Root,
    indexes: Indexes,
    make_order: Callable[[ExitStack], Order],
    terms: Terms,
    permit: Permit,
) -> Installation:
    """Lock the root, which recovers it; then resolve, fetch, install all or none, and wait for the hosts.

    A dry run locks and writes nothing, and downloads documents only.
    """
    with ExitStack() as stack:
        if permit.dry_run:
            with output.progress("looking for releases"):
                order = make_order(stack)
                ready = prepare(root, indexes, order, terms, market.now(), dry_run=True)
            required = [(pick.name, pick.candidate.requires) for pick in ready.picks]
            missing = _missing_requires(root, order, required)
            return Installation(root, ready.plan, ready.arrivals, (), missing, (), dry_run=True)
        with lock_root(root, timeout_seconds=permit.lock_timeout, guard=open_guard(market)) as locked:
            with output.progress("fetching"):
                order = make_order(stack)
                ready = prepare(root, indexes, order, terms, market.now())
                if permit.check is not None:
                    permit.check(ready.arrivals)
            _show_plan(output, root, ready.plan)
            with output.progress(f"installing into {root.path}"):
                changes = install_packs(
                    locked,
                    ready.arrivals,
                    market.now(),
                    overwrite_edits=permit.overwrite_edits,
                    accept_publisher=permit.accept_publisher,
                )
        shown = await_hosts(market, root, [(change.name, change.new_version) for change in changes])
        required = [(pick.name, pick.candidate.requires) for pick in ready.picks]
        missing = _missing_requires(root, order, required)
        seconds = time.monotonic() - market.started
        return Installation(root, ready.plan, ready.arrivals, changes, missing, shown, seconds=seconds)


def _show_plan(output: Output, root: Root, plan: Sequence[PlannedPack]) -> None:
    """Say what is about to be done: an event for programs; for people on a terminal, where they can still interrupt.

    A name that another pack has too is said in any case.
    """
    output.event("plan", root=str(root.path), items=[plan_row(planned) for planned in plan])
    if output.is_watched:
        for line in (*(brief_line(planned) for planned in plan), total_line(plan)):
            output.remark(line)
    for line in (line for planned in plan for line in taken_lines(planned)):
        output.remark(line.strip())


def _missing_requires(
    root: Root, order: Order, packs: Sequence[tuple[str, Sequence[Requirement]]]
) -> tuple[tuple[str, str], ...]:
    """Return what isn't there though it is required: nothing, where requirements were followed."""
    if order.follow:
        return ()
    there = set(load_pack_receipts(root)) | {name for name, _ in packs}
    return tuple(
        (name, str(required)) for name, requires in packs for required in requires if str(required.name) not in there
    )
