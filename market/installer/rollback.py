"""Going back to a release that stood there before, from its kept archive: no network, one transaction, recovered like an install."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from market.errors import NotFound, Untrusted
from market.installer.archives import open_kept
from market.installer.guard import commit_guarded
from market.installer.plan import Action, Allowed, Change, Step
from market.installer.receipt import load_pack_receipts, load_receipts
from market.installer.steps import install_steps
from market.installer.wheels import check_stands_here
from market.names import parse_pack_name, parse_version
from market.pack.inspect import Given
from market.trust.verify import Promise, VerifiedPack, verify_made

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from market.installer.dependencies import DependencyTerms
    from market.installer.receipt import Earlier, Receipt
    from market.installer.root import Root
    from market.installer.transaction import LockedRoot


def rollback_packs(
    locked: LockedRoot,
    names: Sequence[str],
    now: datetime,
    *,
    version: str = "",
    overwrite_edits: bool = False,
    dependencies: DependencyTerms,
) -> tuple[Change, ...]:
    """Put the release before, or a kept `version`, back in the place of each pack; all or none.

    What stood there becomes the earlier one, so a second rollback undoes the first. Raises `NotFound` where nothing fitting is
    kept, `Untrusted` where a kept archive isn't what it was, and `Conflict` and `Refused` as an install does.
    """
    locked.check_held()
    with ExitStack() as stack:
        steps = [
            step
            for name in dict.fromkeys(names)
            for step in _plan(
                stack,
                locked.root,
                str(parse_pack_name(name)),
                version,
                now,
                overwrite_edits=overwrite_edits,
                dependencies=dependencies,
            )
        ]
        return commit_guarded(locked, steps, now)


def find_last_changed(root: Root) -> tuple[str, ...]:
    """Return the packs that the last install, upgrade or rollback put there together; empty where nothing is installed."""
    receipts = load_receipts(root)
    if not receipts:
        return ()
    # Times are whole seconds; the file's own time decides between two transactions of one second.
    last = max(receipts, key=lambda one: (one.installed_at, root.receipt(one.name).stat().st_mtime_ns))
    together = [one for one in receipts if one.transaction and one.transaction == last.transaction] or [last]
    return tuple(dict.fromkeys(str(one.pack_name) for one in together))


def choose_earlier(root: Root, name: str, version: str = "") -> tuple[Receipt, Earlier]:
    """Return a pack's receipt and the earlier release that a rollback leads to. Raises `NotFound` saying what is kept."""
    receipt = load_pack_receipts(root).get(name)
    if receipt is None:
        raise NotFound(f"{name!r} is not installed in {root.path}", hint="see what is: market list")
    wanted = parse_version(version) if version else None
    fitting = [row for row in receipt.earlier if wanted is None or row.version == wanted]
    if fitting:
        return receipt, fitting[0]
    kept = ", ".join(row.version.text for row in receipt.earlier)
    raise NotFound(
        f"no {'earlier release' if wanted is None else f'archive of version {wanted}'} of {name} is kept in {root.path}",
        why=f"it stands at {receipt.version}; kept is {kept or 'nothing before it'}",
        hint=f"`market install {name}@{wanted or 'VERSION'}` fetches one from the index",
        details={"name": name, "kept": [row.version.text for row in receipt.earlier]},
    )


def _plan(
    stack: ExitStack,
    root: Root,
    name: str,
    version: str,
    now: datetime,
    *,
    overwrite_edits: bool,
    dependencies: DependencyTerms,
) -> list[Step]:
    _, earlier = choose_earlier(root, name, version)
    verified = _verify(stack, root, name, earlier)
    check_stands_here(verified, dependencies)
    # Whose release it is was accepted when it was installed, and that its tree is another one is the very purpose.
    allowed = Allowed(overwrite_edits, accept_publisher=True, other_tree=True)
    steps = install_steps(root, verified, earlier.publisher, earlier.origin, now, allowed)
    return [
        replace(step, change=replace(step.change, action=Action.ROLLED_BACK)) if step.receipt else step
        for step in steps
    ]


def _verify(stack: ExitStack, root: Root, name: str, earlier: Earlier) -> VerifiedPack:
    stream = open_kept(root, earlier.archive_digest)
    if stream is None:
        raise _spoilt(root, name, earlier, "it is gone")
    stack.enter_context(stream)
    promise = Promise(parse_pack_name(name), earlier.version, earlier.archive_digest, earlier.tree_digest)
    try:
        return verify_made(stream, Given(), promise)
    except Untrusted as error:
        # It is of no use to anybody, and in its place the next install keeps a good one.
        root.archive(earlier.archive_digest).unlink(missing_ok=True)
        raise _spoilt(root, name, earlier, error.why) from None


def _spoilt(root: Root, name: str, earlier: Earlier, why: str) -> Untrusted:
    return Untrusted(
        f"the kept archive of {name} {earlier.version} can't be used: {root.archive(earlier.archive_digest)}",
        why=why,
        hint=f"`market install {name}@{earlier.version}` fetches it again",
    )
