"""Which findings of a scan stop an act, and what is said of them together. What to do about one is said in the finding itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from market.plugins.answers import FailedScan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from market.errors import Problem, Severity


@dataclass(frozen=True, slots=True)
class Stop:
    """What stops an act: how many of its findings, and whether all of those say only that a scan failed."""

    stopping: int
    found: int
    is_failed_scan: bool

    def why(self, act: str) -> str:
        """Put it into words; `act` is what is stopped.

        >>> Stop(2, 3, is_failed_scan=False).why("an install")
        '2 of 3 findings stop an install'
        """
        return f"{self.stopping} of {self.found} findings stop {act}" if self.found > 1 else f"its finding stops {act}"

    def hint(self, failed: str, found: str) -> str:
        """Return what to do: `failed`, and that the pack isn't known to be bad, where only scans failed, else `found`."""
        return f"{failed}; nothing in the pack is known to be wrong" if self.is_failed_scan else found


def find_stop(findings: Sequence[Problem], severities: Collection[Severity]) -> Stop | None:
    """Return what findings of these severities stop; None where nothing is stopped."""
    stopping = [finding for finding in findings if finding.severity in severities]
    if not stopping:
        return None
    return Stop(len(stopping), len(findings), all(isinstance(finding, FailedScan) for finding in stopping))
