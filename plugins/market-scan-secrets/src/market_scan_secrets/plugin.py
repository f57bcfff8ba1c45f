"""The hook: look into every file of a pack for what should be known to nobody else."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from market.errors import Problem, Severity
from market.hookspecs import hookimpl
from market.pack.secrets import MAX_SCANNED_BYTES, find_secrets
from market_scan_secrets.passwords import find_passwords
from market_scan_secrets.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from market.model import Pack
    from market.pack.source import Source
    from market_scan_secrets.settings import ScanSettings

FIX = "revoke it, take it out, and let the skill read it from a variable in its env_allow"


@hookimpl
def scan_pack(pack: Pack, source: Source) -> tuple[Problem, ...]:
    """Return a finding with file, line and column for each secret."""
    return tuple(scan(pack.name, source, load_settings(os.environ)))


def scan(pack: str, source: Source, settings: ScanSettings) -> Iterator[Problem]:
    """Yield the findings of a pack. A file that is too large to be scanned is a warning, so that nobody takes it for scanned."""
    for file in source.files():
        if settings.is_allowed(pack, file.path):
            continue
        if file.size > MAX_SCANNED_BYTES:
            text = f"{file.size} bytes are more than the {MAX_SCANNED_BYTES} that are looked into"
            yield Problem("not-scanned", Severity.WARNING, text, file.path, reason="secrets in it wouldn't be found")
            continue
        data = source.read(file.path)
        for problem in (*find_secrets(data, file.path), *find_passwords(data, file.path)):
            yield replace(problem, severity=settings.severity, fix=FIX)
