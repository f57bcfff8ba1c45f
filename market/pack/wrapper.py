"""The one folder that programs put around a pack: `my-pack/` from Finder, `repository-1.2.0/` from a code forge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.pack.discover import COMMAND_FILE, GUIDE_FILE
from market.pack.kinds import DEFAULT_SKILL_FOLDER, MARKED_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARKERS = frozenset({GUIDE_FILE, COMMAND_FILE, *(kind.marker for kind in MARKED_KINDS)})


def find_wrapper(paths: Iterable[str]) -> str:
    """Return the folder that all paths lie in and that may be taken off, or an empty text.

    `skills` without a manifest in it is the layout of a collection, not a wrapper.

    >>> find_wrapper(["a/SKILL.md", "a/b/c"]), find_wrapper(["skills/a/SKILL.md"]), find_wrapper(["a/SKILL.md", "b/SKILL.md"])
    ('a', '', '')
    """
    listed = list(paths)
    top, slash, _ = listed[0].partition("/")
    if not slash or top in (".", "..", "") or not all(path.startswith(f"{top}/") for path in listed):
        return ""
    has_manifest = any(f"{top}/{marker}" in listed for marker in _MARKERS)
    return top if has_manifest or top != DEFAULT_SKILL_FOLDER else ""
