"""What the operator sets: how far a finding reaches, and which files are allowed to hold what looks like a secret."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from market.disk.failures import disk_failures
from market.disk.home import load_home
from market.errors import InvalidInput, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "MARKET_SCAN_SECRETS"
FILE_NAME = "scan-secrets.toml"


@dataclass(frozen=True, slots=True)
class ScanSettings:
    """`allow` holds patterns `PACK:PATH`, for example `demo-*:tests/*`."""

    severity: Severity = Severity.ERROR
    allow: tuple[str, ...] = ()

    def is_allowed(self, pack: str, path: str) -> bool:
        """Whether a file of a pack is passed over."""
        return any(fnmatchcase(f"{pack}:{path}", pattern) for pattern in self.allow)


def load_settings(environ: Mapping[str, str]) -> ScanSettings:
    """Read the file that the variable names, or the one in MARKET_HOME; without one the defaults hold.

    Raises `InvalidInput` for a file that can't be read as what it is; the scan then stops what it was asked about.
    """
    named = environ.get(VARIABLE, "")
    path = Path(named) if named else load_home(environ).path / FILE_NAME
    with disk_failures("read", path):
        if not named and not path.exists():
            return ScanSettings()
        text = path.read_text(encoding="utf-8")
    try:
        match tomllib.loads(text):
            case {**values} if not set(values) - {"severity", "allow"}:
                allow = values.get("allow", [])
                if isinstance(allow, list) and all(isinstance(pattern, str) for pattern in allow):
                    return ScanSettings(Severity(values.get("severity", Severity.ERROR)), tuple(allow))
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read", why=str(error)) from None
    raise InvalidInput(f"{path} can't be read", why='it may hold severity = "error" and allow = ["PACK:PATH"]')
