"""Who is asked before a transaction changes a root, and who is told afterwards: the plugins, for the caller who wants it.

Every transaction passes here: installs, upgrades, rollbacks, syncs, uninstalls. What they do on disk is `commit.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from market.errors import Refused, Severity
from market.hookspecs import ACT_INSTALL, hookimpl
from market.installer.commit import commit
from market.installer.plan import Action
from market.installer.steps import fold_changes
from market.model import Role
from market.own_scan import own_scan
from market.plugins.stops import Stop, find_stop
from market.trust.decision import Decision, allow, deny

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from market.errors import Problem
    from market.installer.plan import Change, Step
    from market.installer.root import Root
    from market.installer.transaction import LockedRoot
    from market.model import Caller, Pack
    from market.plugins.loaded import Plugins

STOPPING = (Severity.ERROR,)
"""A refusal of a publish doesn't stop who wants the pack on a machine of their own; it is shown."""


class OwnInstalling:
    """Market's own rule of installing, as a plugin."""

    @hookimpl
    def decide_install(self, caller: Caller) -> Decision:
        """Let admins install: whoever may write the root from the command line is one."""
        if caller.role is Role.ADMIN:
            return allow("an admin may install")
        return deny(f"{caller.role} may not install; it needs the role admin")


def own_installing() -> dict[str, object]:
    """Return Market's own implementations by name, for `load_plugins`."""
    return {"market-installing": OwnInstalling(), **own_scan()}


@dataclass(frozen=True, slots=True)
class Guard:
    """The plugins of one program, and who asks for the change."""

    plugins: Plugins
    caller: Caller

    def check(self, root: Root, step: Step) -> tuple[Problem, ...]:
        """Scan a pack that shall be installed and ask whether it may be; returns the findings that stop nothing.

        Raises `Refused` with every finding, or with the reasons of those who deny.
        """
        if step.receipt is None:
            return ()
        if step.pack is None or step.source is None:
            raise RuntimeError(f"the step that installs {step.change.name} doesn't say what its pack is")
        findings = self.plugins.scan_pack(step.pack, step.source, ACT_INSTALL)
        if stop := find_stop(findings, STOPPING):
            raise _found(step.pack, findings, stop)
        place, publisher = _place_of(step), step.receipt.publisher
        decision = self.plugins.decide_install(step.pack, publisher, place, str(root.path), self.caller)
        if not decision.allowed:
            raise _denied(step.pack, decision)
        return findings

    def tell(self, root: Root, step: Step, now: datetime) -> None:
        """Tell of one pack that was installed or removed."""
        where, change = str(root.path), step.change
        if change.action is Action.REMOVED:
            self.plugins.pack_removed(change.name, change.old_version, where, self.caller, now)
        elif step.pack is not None and step.receipt is not None:
            self.plugins.pack_installed(
                step.pack,
                step.receipt.publisher,
                _place_of(step),
                where,
                str(change.action),
                change.old_version,
                self.caller,
                now,
            )


def commit_guarded(locked: LockedRoot, steps: Sequence[Step], now: datetime) -> tuple[Change, ...]:
    """Ask, carry out the steps, all or none, and tell; returns one change a pack.

    Where the root was locked without a guard, nobody is asked or told.
    """
    guard, active = locked.guard, [step for step in steps if step.change.action is not Action.UNCHANGED]
    if guard is None:
        return fold_changes(steps, commit(locked.root, steps))
    findings = {step.change.name: guard.check(locked.root, step) for step in active}
    changes = [replace(change, findings=findings.get(change.name, ())) for change in commit(locked.root, steps)]
    folded = fold_changes(steps, changes)
    # Of several skills of one pack, the pack is told of once.
    told = {change.name: change for change in folded}
    for step in {_pack_of(step): step for step in reversed(active)}.values():
        guard.tell(locked.root, replace(step, change=told[_pack_of(step)]), now)
    return folded


def _pack_of(step: Step) -> str:
    receipt = step.receipt or step.old
    return str(receipt.pack_name) if receipt else step.change.name


def _place_of(step: Step) -> str:
    origin = step.receipt.origin if step.receipt else None
    return (origin.index or origin.location) if origin else ""


def _found(pack: Pack, findings: tuple[Problem, ...], stop: Stop) -> Refused:
    return Refused(
        f"{pack.name} {pack.version} is not installed: a scan found what stops it",
        why=stop.why("an install"),
        hint=stop.hint(
            "see what is said of the scan", "look at the files that are named; `market plugins list` shows who scans"
        ),
        problems=findings,
        details={"name": pack.name, "version": str(pack.version)},
    )


def _denied(pack: Pack, decision: Decision) -> Refused:
    return Refused(
        f"{pack.name} {pack.version} may not be installed here",
        why=decision.reason,
        hint="ask whoever operates this machine; `market plugins list` shows whose rules hold here",
        details={"name": pack.name, "version": str(pack.version)},
    )
