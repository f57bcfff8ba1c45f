"""The tags that say on which interpreters and systems a wheel works: `py3-none-any`, and compressed sets such as `py2.py3-none-any`.

Which of them fit a machine is `market.installer.machine`'s to say.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_TAGS = 10_000
"""How many tags the compressed sets of one wheel may stand for; numpy's wheels have four."""

_NAME_PARTS = 5
_UNIVERSAL_PYTHONS = frozenset({"py3", "py30"})


def find_tags(file_name: str) -> tuple[str, ...]:
    """Return the tags in a wheel's file name, as one compressed set; none where it has another form.

    >>> find_tags("demo_pack-1.0.0-py2.py3-none-any.whl"), find_tags("demo.zip")
    (('py2.py3-none-any',), ())
    """
    stem, dot, suffix = file_name.rpartition(".")
    parts = stem.split("-")
    return ("-".join(parts[-3:]),) if dot and suffix == "whl" and len(parts) >= _NAME_PARTS else ()


def is_universal(tag: str) -> bool:
    """Whether a tag fits every Python 3 and every system.

    >>> is_universal("py2.py3-none-any"), is_universal("py311-none-any"), is_universal("cp311-cp311-win_amd64")
    (True, False, False)
    """
    pythons, _, rest = tag.partition("-")
    return rest == "none-any" and not _UNIVERSAL_PYTHONS.isdisjoint(pythons.split("."))


def are_tags(tags: Iterable[str]) -> bool:
    """Whether each has the three parts of the standard, and all together stand for no more than `MAX_TAGS`.

    >>> are_tags(["cp311-cp311-linux_x86_64"]), are_tags(["py3"])
    (True, False)
    """
    count = 0
    for tag in tags:
        parts = tag.split("-")
        if len(parts) != 3 or not all(piece for part in parts for piece in part.split(".")):
            return False
        count += math.prod(part.count(".") + 1 for part in parts)
    return count <= MAX_TAGS


def expand_tags(tags: Iterable[str]) -> frozenset[str]:
    """Return the single tags that some, which `are_tags`, stand for, in small letters.

    >>> sorted(expand_tags(["py2.py3-none-any"]))
    ['py2-none-any', 'py3-none-any']
    """
    sets = ((part.split(".") for part in tag.lower().split("-")) for tag in tags)
    return frozenset("-".join(parts) for one in sets for parts in itertools.product(*one))
