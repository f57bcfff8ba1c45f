"""What a skill or pack needs from the machine: read from pack.yaml's `needs` and from `metadata` in the ways that are in use."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from market.model import Needs

if TYPE_CHECKING:
    from collections.abc import Mapping

_OS_NAMES = {"macos": "darwin", "osx": "darwin", "mac": "darwin", "windows": "win32", "win": "win32"}
# OpenClaw reads the first of these that is there (docs and loader differ on a third spelling, which is not read).
_OPENCLAW_KEYS = ("openclaw", "clawdbot")


def read_needs(metadata: object) -> Needs:
    """Return the needs in a manifest's `metadata`: `os`, `requires` (bins, anyBins, env, config), and the same under `openclaw`.

    What can't be read counts as no need: it must not keep a skill from loading.
    """
    fields = _as_mapping(metadata)
    openclaw = next((_as_mapping(fields[key]) for key in _OPENCLAW_KEYS if key in fields), {})
    sources = (fields, openclaw)
    # OpenClaw's `always` lifts its own requirements, but for the system.
    requires = [_as_mapping(source.get("requires")) for source in sources if not _is_true(source.get("always"))]
    return Needs(
        os=_unique(
            _OS_NAMES.get(name.lower(), name.lower()) for source in sources for name in _as_names(source.get("os"))
        ),
        bins=_unique(name for source in requires for name in _as_names(source.get("bins"))),
        env=_unique(name for source in requires for name in _as_names(source.get("env"))),
        any_bins=_unique(
            name for source in requires for name in _as_names(source.get("anyBins", source.get("any_bins")))
        ),
        config=_unique(name for source in requires for name in _as_names(source.get("config"))),
    )


def join_needs(first: Needs, second: Needs) -> Needs:
    """Return the needs of both. Where each names programs of which one is enough, the first's count: a union would ask less."""
    return replace(
        first,
        os=first.os or second.os,
        bins=_unique((*first.bins, *second.bins)),
        env=_unique((*first.env, *second.env)),
        any_bins=first.any_bins or second.any_bins,
        config=_unique((*first.config, *second.config)),
    )


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _as_mapping(value: object) -> Mapping[str, Any]:
    """OpenClaw's `metadata` is often JSON written as one text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _as_names(value: object) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [item.strip() for item in items if isinstance(item, str) and item.strip()]


def _unique(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
