"""The hook: look into every file of a pack for what should be known to nobody else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from market.errors import Problem, Severity
from market.hookspecs import hookimpl
from market.pack.scan_limits import MAX_PACK_TRIES, MAX_SCANNED_BYTES, ScanBudget
from market.pack.secrets import find_secrets
from market_scan_secrets.passwords import find_passwords
from market_scan_secrets.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.model import Pack
    from market.pack.source import Source
    from market_scan_secrets.settings import ScanSettings

UNREAD = "secrets in it wouldn't be found"
FIX = "revoke it, take it out, and let the skill read it from a variable in its env_allow"


@hookimpl
def scan_pack(pack: Pack, source: Source) -> tuple[Problem, ...]:
    """Return a finding with file, line and column for each secret."""
    return tuple(scan(pack.name, source, load_settings(os.environ)))


def scan(pack: str, source: Source, settings: ScanSettings) -> Iterator[Problem]:
    """Yield the findings of a pack. What there is too much of to be scanned is a warning, so that nobody takes it for scanned."""
    budget = ScanBudget()
    for file in source.files():
        if settings.is_allowed(pack, file.path):
            continue
        if file.size > MAX_SCANNED_BYTES:
            text = f"{file.size} bytes are more than the {MAX_SCANNED_BYTES} that are looked into"
            yield Problem("not-scanned", Severity.WARNING, text, file.path, reason=UNREAD)
            continue
        data = source.read(file.path)
        budget.bytes -= len(data)
        for problem in (*find_secrets(data, file.path, budget), *find_passwords(data, file.path, budget)):
            yield replace(problem, severity=settings.severity, fix=FIX)
        if budget.is_spent:
            text = f"more than {MAX_PACK_TRIES:,} places look like a secret, or the pack is too large: the rest isn't looked into"
            yield Problem("not-scanned", Severity.WARNING, text, file.path, reason=UNREAD)
            return
