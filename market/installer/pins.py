"""Pins: packs that somebody holds at a version, each with the reason. Kept beside the receipts, since a pin outlives every release.

What a pin forbids is decided in `plan.py`, so that no road into a root gets around it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from market.disk.atomic import write_atomic
from market.disk.failures import disk_failures
from market.errors import InvalidInput, MarketError, NotFound, Untrusted
from market.installer.receipt import load_pack_receipts
from market.names import Version, parse_pack_name, parse_version

if TYPE_CHECKING:
    from market.installer.root import Root
    from market.installer.transaction import LockedRoot

PINS_SCHEMA = 1
MAX_REASON_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Pin:
    """One held pack. `at` is UTC."""

    name: str
    version: Version
    reason: str
    at: datetime


def load_pins(root: Root) -> dict[str, Pin]:
    """Return the pins of a root by pack, sorted; raises `Untrusted` where their file can't be read."""
    with disk_failures("read the pins in", root.pins):
        try:
            content = root.pins.read_bytes()
        except FileNotFoundError:
            return {}
    try:
        values = json.loads(content)
        if values["schema"] != PINS_SCHEMA:
            raise ValueError(f"it has schema {values['schema']}; a newer Market may have written it")
        return {name: _parse_pin(name, row) for name, row in sorted(values["pins"].items())}
    except (MarketError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise Untrusted(
            f"the pins {root.pins} can't be read", why=str(error), hint="correct the file, or delete it and pin again"
        ) from None


def pin_pack(locked: LockedRoot, name: str, version: str, reason: str, now: datetime) -> Pin:
    """Hold a pack at a version, or at the one that stands there. Raises `NotFound` where neither is known."""
    locked.check_held()
    canonical = str(parse_pack_name(name))
    text = reason.strip()
    if not text or len(text) > MAX_REASON_CHARACTERS:
        raise InvalidInput(
            f"a pin's reason has 1 to {MAX_REASON_CHARACTERS} characters",
            why=f"this one has {len(text)}",
            hint="say why, for whoever wonders later",
        )
    pin = Pin(canonical, parse_version(version) if version else _standing(locked.root, canonical), text, now)
    _save(locked.root, {**load_pins(locked.root), canonical: pin})
    return pin


def unpin_pack(locked: LockedRoot, name: str) -> Pin:
    """Let a pack go; raises `NotFound` where it isn't pinned."""
    locked.check_held()
    pins = load_pins(locked.root)
    pin = pins.pop(str(parse_pack_name(name)), None)
    if pin is None:
        raise NotFound(
            f"{name} is not pinned in {locked.root.path}", hint=f"pinned is {', '.join(pins)}" if pins else ""
        )
    _save(locked.root, pins)
    return pin


def _standing(root: Root, name: str) -> Version:
    receipt = load_pack_receipts(root).get(name)
    if receipt is None:
        raise NotFound(
            f"{name!r} is not installed in {root.path}", hint="name the version with --version, or install it first"
        )
    return receipt.version


def _save(root: Root, pins: dict[str, Pin]) -> None:
    rows = {
        name: {"version": pin.version.text, "reason": pin.reason, "at": pin.at.astimezone(UTC).isoformat()}
        for name, pin in sorted(pins.items())
    }
    content = json.dumps({"schema": PINS_SCHEMA, "pins": rows}, ensure_ascii=False, indent=1).encode() + b"\n"
    with disk_failures("write", root.pins):
        write_atomic(root.pins, content)


def _parse_pin(name: str, row: dict[str, Any]) -> Pin:
    return Pin(name, parse_version(row["version"]), str(row["reason"]), datetime.fromisoformat(row["at"]))
