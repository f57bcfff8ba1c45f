"""Where a symbolic link in a folder leads: to something inside, or to what rule it breaks."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """`place` is the target's real path below the folder, free of links; with a broken rule it is empty and `rule` is set."""

    text: str
    place: str = ""
    is_directory: bool = False
    rule: str = ""


def resolve_link(base: str, place: str, above: tuple[str, ...]) -> LinkTarget:
    """Resolve the link at `place` below `base` (a real path). `above` are the real folders that are being walked right now."""
    path = f"{base}/{place}"
    shown = f"links to {os.readlink(path)!r}"  # noqa: PTH115 - strings all the way
    real = os.path.realpath(path)
    if not os.path.exists(real):  # noqa: PTH110
        return LinkTarget(shown, rule="folder-link-broken")
    # A name that only starts alike (`/roots/a-evil` for `/roots/a`) is outside, hence the slash.
    if real != base and not real.startswith(base.rstrip("/") + "/"):
        return LinkTarget(shown, rule="folder-link-outside")
    inside = os.path.relpath(real, base)
    if inside in above:
        return LinkTarget(shown, rule="folder-link-loop")
    return LinkTarget(shown, inside, os.path.isdir(real))  # noqa: PTH112
