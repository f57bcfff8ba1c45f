"""From packs that shall come or go to the steps of a transaction, in the root's own layout; and back to one change a pack."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from market.errors import NotFound
from market.installer.composition import compose
from market.installer.layout import Layout, load_layout
from market.installer.plan import Action, Change, plan_install, plan_tree, plan_uninstall
from market.installer.receipt import PartOf, Receipt, load_receipts
from market.installer.skill_tree import split_pack
from market.names import parse_pack_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from market.installer.plan import Allowed, Step
    from market.installer.receipt import Origin
    from market.installer.root import Root
    from market.installer.skill_tree import SkillTree
    from market.trust.verify import VerifiedPack

# Of the changes of a pack's skills the first of these is the pack's.
_WEIGHT = (Action.ROLLED_BACK, Action.UPGRADED, Action.DOWNGRADED, Action.REINSTALLED, Action.INSTALLED, Action.REMOVED)


def install_steps(
    root: Root, verified: VerifiedPack, publisher: str, origin: Origin, now: datetime, allowed: Allowed
) -> list[Step]:
    """Return the steps that install a pack: one, or in the layout `skills` one a skill, and one for each skill that it no longer has."""
    if load_layout(root) is Layout.PACKS:
        return [plan_install(root, verified, publisher, origin, now, allowed)]
    trees, composition = split_pack(verified), compose(verified)

    def plan(tree: SkillTree) -> Step:
        new = Receipt(
            tree.name,
            verified.version,
            publisher,
            origin,
            verified.archive_digest,
            tree.record.tree_digest,
            tree.record,
            now,
            PartOf(verified.name, verified.tree_digest),
            composition=composition,
        )
        # The archive is kept once, with the first of them.
        archive = verified.archive if tree is trees[0] else None
        return plan_tree(root, new, tree.source, archive, verified.pack, allowed)

    names = {tree.name for tree in trees}
    gone = [one.name for one in load_receipts(root) if one.pack_name == verified.name and one.name not in names]
    return [*map(plan, trees), *(plan_uninstall(root, name) for name in gone)]


def uninstall_steps(root: Root, name: str) -> list[Step]:
    """Return the steps that uninstall a pack, all its skills in the layout `skills`; raises `NotFound` where it isn't installed."""
    if load_layout(root) is Layout.PACKS:
        return [plan_uninstall(root, name)]
    pack = parse_pack_name(name)
    receipts = load_receipts(root)
    own = [one.name for one in receipts if one.pack_name == pack]
    if own:
        return [plan_uninstall(root, one) for one in own]
    owner = next((one.pack_name for one in receipts if one.name == pack), "")
    if owner:
        raise NotFound(
            f"{pack} is a skill of the pack {owner}", hint=f"`market uninstall {owner}` takes all its skills out"
        )
    # Nothing, or a receipt that can't be read: the plan of one directory says which.
    return [plan_uninstall(root, pack)]


def fold_changes(steps: Sequence[Step], changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return one change a pack, in the order of the steps."""
    groups: dict[str, list[Change]] = {}
    for step, change in zip(steps, changes, strict=True):
        receipt = step.receipt or step.old
        groups.setdefault(receipt.pack_name if receipt else change.name, []).append(change)
    return tuple(_fold(name, group) for name, group in groups.items())


def _fold(name: str, group: list[Change]) -> Change:
    if len(group) == 1 and group[0].name == name:
        return group[0]
    actions = {change.action for change in group}
    is_upgrade = any(
        change.old_version and change.new_version and change.old_version != change.new_version for change in group
    )
    if not is_upgrade and Action.REMOVED in actions and len(actions) > 1:
        actions.discard(Action.REMOVED)
    action = next((one for one in _WEIGHT if one in actions), Action.UNCHANGED)
    return replace(
        group[0],
        name=name,
        action=action,
        old_version=next((change.old_version for change in group if change.old_version), ""),
        new_version=next((change.new_version for change in group if change.new_version), ""),
        backup=", ".join(change.backup for change in group if change.backup),
        findings=tuple(dict.fromkeys(finding for change in group for finding in change.findings)),
        composition=next((change.composition for change in group if change.composition), None),
    )
