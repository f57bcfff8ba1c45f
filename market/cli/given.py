"""`--name` and `--version` of a folder or archive, as checked values."""

from __future__ import annotations

from market.names import parse_pack_name, parse_version
from market.pack.inspect import Given


def parse_given(name: str, version: str) -> Given:
    """Return `--name` and `--version` as checked values; empty ones mean that the pack says it itself."""
    return Given(name=parse_pack_name(name) if name else "", version=parse_version(version).text if version else "")
