"""What was tried while resolving, for the sentences about a conflict. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from resolvelib import BaseReporter

from market.resolve.candidates import Candidate
from market.resolve.provider import Wish

if TYPE_CHECKING:
    from resolvelib.resolvers.criterion import Criterion

MAX_TRIED = 1000


class TriedReporter(BaseReporter[Wish, Candidate, str]):
    """Notes the releases that were tried and given up, each once, in their order."""

    def __init__(self) -> None:
        self._tried: dict[str, None] = {}

    @property
    def tried(self) -> tuple[str, ...]:
        """The releases that were tried and given up, as `NAME VERSION`."""
        return tuple(self._tried)

    def rejecting_candidate(self, criterion: Criterion[Wish, Candidate], candidate: Candidate) -> None:
        """Note one more."""
        if len(self._tried) < MAX_TRIED:
            self._tried[str(candidate)] = None
