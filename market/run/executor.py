"""What an executor says when the tree under it has changed. What an executor is stands with the hooks; what calls it is `invoke`."""

from __future__ import annotations

from market.errors import Conflict


class Replaced(Conflict):
    """The pack's directory isn't the one that was found any more: look the skill up again. Nothing has run."""

    slug = "replaced"
