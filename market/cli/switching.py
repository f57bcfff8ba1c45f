"""Switching a pack or a skill on or off: find what is meant, change the root's file, wait for the hosts."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.cli.awaiting import await_skills
from market.cli.beside import beside_hint
from market.cli.roots import chosen_roots
from market.cli.standing import load_registry
from market.errors import NotFound
from market.installer.disabled import Target, disable_targets, enable_targets
from market.installer.transaction import lock_root
from market.model import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from market.cli.market import Market
    from market.cli.output import Output
    from market.client.host_wire import SkillView
    from market.installer.root import Root
    from market.registry.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Meant:
    """What a word names: a directory of a root with its pack's name, and one skill of it or all."""

    root: Root
    target: Target
    pack: str

    @property
    def text(self) -> str:
        """The value in words."""
        name = self.target.unit or self.pack
        return f"the skill {self.target.skill} of {name}" if self.target.skill else f"all of {name}"


def switch(
    market: Market, output: Output, words: Sequence[str], roots: tuple[str, ...], *, lock_timeout: float, off: bool
) -> None:
    """Switch everything that the words name, root by root, and tell what changed."""
    chosen = chosen_roots(market, roots)
    snapshot = load_registry(chosen).snapshot
    found = list(dict.fromkeys(_find(snapshot, chosen, word) for word in words))
    items, lines = [], []
    for root in dict.fromkeys(meant.root for meant in found):
        own = [meant for meant in found if meant.root == root]
        with lock_root(root, timeout_seconds=lock_timeout, guard=None) as locked:
            change = disable_targets if off else enable_targets
            changed = change(locked, [meant.target for meant in own])
        for meant in own:
            is_changed = any(_covers(meant.target, one) for one in changed)
            followed = await_skills(market, root, meant.pack, _expect(meant, off=off)) if is_changed else ()
            word = ("disabled" if off else "enabled") if is_changed else ("already disabled" if off else "not disabled")
            items.append(
                {
                    "root": str(root.path),
                    "pack": meant.target.unit or meant.pack,
                    "skill": meant.target.skill,
                    "action": word,
                    "hosts": [one.document for one in followed],
                }
            )
            lines += [f"{word}: {meant.text} in {root.path}", *(one.line for one in followed)]
    output.done({"items": items}, lines)


def _covers(wanted: Target, changed: Target) -> bool:
    return wanted.unit == changed.unit and (not wanted.skill or wanted.skill == changed.skill)


def _expect(meant: Meant, *, off: bool) -> Callable[[list[SkillView]], bool]:
    def is_reached(skills: list[SkillView]) -> bool:
        own = [one for one in skills if meant.target.skill in ("", one.name)]
        return all((one.state == State.DISABLED) == off for one in own)

    return is_reached


def _find(snapshot: Snapshot, roots: Sequence[Root], word: str) -> Meant:
    """Return what a word names: a pack, in the first root that has it, else a skill's key."""
    name = word.lower().replace("_", "-")
    by_path = {str(root.path): root for root in roots}
    for root in roots:
        for unit, loaded in snapshot.units.items():
            if unit.root == str(root.path) and name in (unit.name, loaded.pack) and (loaded.skills or loaded.dropped):
                return Meant(root, Target(unit.name), loaded.pack)
    live = snapshot.find(word)
    if live is not None:
        root = by_path[live.root]
        return Meant(root, Target(live.unit[len(live.root) + 1 :], live.skill.name), live.pack)
    known = sorted({*snapshot.keys, *(loaded.pack for loaded in snapshot.units.values() if loaded.skills)})
    near = difflib.get_close_matches(word, known, n=3)
    raise NotFound(
        f"there is no pack or skill {word!r}",
        why=f"looked in {', '.join(by_path) or 'no root: none exists yet'}",
        hint=beside_hint(word) or (f"did you mean {' or '.join(near)}?" if near else "see `market list`"),
    )
