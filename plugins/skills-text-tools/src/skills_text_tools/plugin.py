"""What this package adds to Market: the folders with its skills."""

from __future__ import annotations

import pluggy

hookimpl = pluggy.HookimplMarker("market")


@hookimpl
def market_skills() -> list[str]:
    """Return the folders with skills, seen from this file."""
    return ["json_diff", "redact_secrets", "regex_test", "table_to_csv"]
