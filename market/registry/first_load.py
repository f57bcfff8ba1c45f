"""The first load of a process that lives long: without the garbage collector in the way."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from market.registry.registry import Registry
    from market.registry.watch import Watch

_log = logging.getLogger("market.registry")


def load_and_watch(registry: Registry, watch: Watch) -> int | None:
    """Load a registry and start watching it; return how many skills are registered, or None where the load failed.

    Nothing known makes it fail. But without the watch, what nobody foresaw would leave a host that serves nothing, and for ever.
    """
    count = None
    try:
        count = load_first(registry)
    except Exception:
        _log.exception("the first load failed; what was loaded is served, and each rescan looks at everything again")
    watch.start()
    return count


def load_first(registry: Registry) -> int:
    """Load a registry, keep what it made out of the collector's sight, and return how many skills are registered.

    What is loaded lives as long as the process: walking it over and over took a seventh of the load, and later 100 ms a time.
    """
    gc.disable()
    try:
        count = registry.load()
    finally:
        gc.enable()
    gc.collect()
    gc.freeze()
    return count
