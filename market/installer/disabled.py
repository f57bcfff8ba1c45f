"""Packs and skills that somebody has switched off in a root. What a disabled skill may still do is the registry's to say."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.errors import Untrusted
from market.installer.nudge import nudge_unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from market.installer.root import Root
    from market.installer.transaction import LockedRoot

DISABLED_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Target:
    """What can be switched off: all of a directory below the root (empty for the root itself), or one skill of it by its name."""

    unit: str
    skill: str = ""


@dataclass(frozen=True, slots=True)
class Disabled:
    """What is switched off in one root."""

    targets: frozenset[Target] = frozenset()

    def covers(self, unit: str, skill: str) -> bool:
        """Answer whether a skill is off, by itself or with its whole unit."""
        return bool(self.targets) and (Target(unit) in self.targets or Target(unit, skill) in self.targets)


def load_disabled(root: Root) -> Disabled:
    """Return what is switched off; raises `Untrusted` where the file can't be read: guessing might switch something on."""
    with disk_failures("read", root.disabled):
        try:
            content = root.disabled.read_bytes()
        except FileNotFoundError:
            return Disabled()
    try:
        values = json.loads(content)
        if values["schema"] != DISABLED_SCHEMA:
            raise ValueError(f"it has schema {values['schema']}; a newer Market may have written it")
        return Disabled(frozenset(_parse_target(row) for row in values["disabled"]))
    except (KeyError, TypeError, ValueError) as error:
        raise Untrusted(
            f"{root.disabled} can't be read", why=str(error), hint="correct the file, or delete it and disable again"
        ) from None


def disable_targets(locked: LockedRoot, targets: Iterable[Target]) -> tuple[Target, ...]:
    """Switch off, and return what wasn't off before. It stays so through upgrades, rollbacks and new installs."""
    locked.check_held()
    before = load_disabled(locked.root).targets
    return _change(locked.root, [one for one in targets if one not in before], lambda new: before | new)


def enable_targets(locked: LockedRoot, targets: Iterable[Target]) -> tuple[Target, ...]:
    """Switch on, and return what wasn't on before. Of a whole unit all its skills are meant."""
    locked.check_held()
    before = load_disabled(locked.root).targets
    wanted = frozenset(targets)
    found = [one for one in before if one in wanted or Target(one.unit) in wanted]
    return _change(locked.root, found, lambda gone: before - gone)


def _change(root: Root, changed: list[Target], combine: Any) -> tuple[Target, ...]:
    if changed:
        after = sorted(combine(frozenset(changed)), key=lambda one: (one.unit, one.skill))
        rows = [[one.unit, one.skill] for one in after]
        content = json.dumps({"schema": DISABLED_SCHEMA, "disabled": rows}, ensure_ascii=False, indent=1).encode()
        with disk_failures("write", root.disabled):
            write_atomic(root.disabled, content + b"\n")
        for unit in sorted({one.unit for one in changed}):
            nudge_unit(root, unit)
    return tuple(sorted(changed, key=lambda one: (one.unit, one.skill)))


def _parse_target(row: Any) -> Target:
    match row:
        case [str(unit), str(skill)]:
            return Target(unit, skill)
    raise ValueError(f"{row!r} is not a directory and a skill")
