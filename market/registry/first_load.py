"""The first load of a process that lives long: without the garbage collector in the way."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from market.registry.registry import Registry


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
