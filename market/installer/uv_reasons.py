"""Why uv couldn't resolve or fetch something, in the errors of this house: its own words, sorted by what the reader can do. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from market.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePath

    from market.errors import MarketError

# What uv says where it knew all that it had to know, and there is no answer: trying again doesn't help.
_NO_ANSWER = ("No solution found when resolving", "Couldn't parse requirement")
_UNKNOWN = "was not found in"
# What it adds where it didn't: it was told to stay offline, or an index didn't let it look.
_NOT_ASKED = ("because the network was disabled", "could not be queried", "returned a 401", "returned a 403")


# The words of the system, in uv's own chain of causes.
_NO_ROOM = ("No space left on device", "Disk quota exceeded")


def explain_uv(
    name: str, requires: Sequence[str], why: str, work: PurePath, *, can_be_left_out: bool = True
) -> MarketError:
    """Return the error for what a pack depends on; `why` is what uv said, `work` the folder that it filled.

    `InvalidInput` where the requirements can't be met: they clash, or what they name has no wheel for this Python and system.
    `Unavailable` for all else, since a package index that can't be asked is the likeliest cause of what isn't known here; where a
    disk is full, it says so. `can_be_left_out`: whether --no-deps would help.
    """
    needed, alone = ", ".join(requires), "; --no-deps installs the pack alone" if can_be_left_out else ""
    if any(words in why for words in _NO_ROOM):
        return Unavailable(
            f"what {name} depends on can't be written: {needed}",
            why=f"a disk is full: {why}",
            hint=f"free some space in {work.parent} (TMPDIR) and in uv's cache (UV_CACHE_DIR), and try again",
            details={"path": str(work.parent), "errno": "ENOSPC"},
        )
    if any(words in why for words in _NO_ANSWER) and not any(words in why for words in _NOT_ASKED):
        other = "see that uv asks the right package index (UV_DEFAULT_INDEX)" if _UNKNOWN in why else "tell its author"
        return InvalidInput(
            f"what {name} depends on can't be met on this Python and system: {needed}",
            why=why,
            hint=f"take another release of the pack, or {other}{alone}",
        )
    return Unavailable(
        f"what {name} depends on can't be fetched: {needed}",
        why=why,
        hint=f"check the package index that uv uses (UV_DEFAULT_INDEX){alone}",
    )
