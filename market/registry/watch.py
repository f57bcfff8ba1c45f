"""Notices changes in the roots and tells the registry: events of the roots' own entries, roots that come and go, and a slow rescan.

The watch isn't recursive: one watch a root, however many skills. A folder that is still being copied is looked at again until
it stays the same; edits inside older units are found by the rescan (or at once, where `Registry.recheck_watched` is used).
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from watchfiles import watch

from market.installer.root import STATE_FOLDER
from market.registry.roots import RootIdentity, identify
from market.registry.tree_marks import SKIPPED_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from watchfiles.main import FileChange

    from market.registry.registry import Registry
    from market.registry.unit import UnitId

DEBOUNCE_MS = 50
STEP_MS = 10
LOOK_SECONDS = 0.2
"""How often, without events, roots are compared and settling units looked at."""
SETTLE_FIRST_SECONDS = 0.1
SETTLE_LAST_SECONDS = 3.0
"""A changed unit is looked at again after the first pause, then after pauses that double, until one of the last length."""
STOP_TIMEOUT_SECONDS = 5.0
RETRY_SECONDS = 1.0
DEFAULT_RESCAN_SECONDS = 30.0

_log = logging.getLogger("market.registry")


@dataclass(slots=True)
class _Settling:
    due: float
    pause: float


class Watch:
    """A thread that keeps a registry true to the disk until it is stopped."""

    def __init__(self, registry: Registry, rescan_seconds: float = DEFAULT_RESCAN_SECONDS) -> None:
        self._registry = registry
        self._rescan_seconds = rescan_seconds
        self._stop = threading.Event()
        self._watching = threading.Event()
        self._settling: dict[UnitId, _Settling] = {}
        self._threads = [
            threading.Thread(target=self._run, name="registry-watch", daemon=True),
            threading.Thread(target=self._rescan_now_and_then, name="registry-rescan", daemon=True),
        ]

    def start(self) -> None:
        """Start watching; what changes from the moment when `wait_until_watching` returns True isn't missed."""
        for thread in self._threads:
            thread.start()

    def wait_until_watching(self, timeout_seconds: float) -> bool:
        """Wait for the first watch to be set up."""
        return self._watching.wait(timeout_seconds)

    def stop(self) -> None:
        """End the threads, waiting a short while for them."""
        self._stop.set()
        for thread in self._threads:
            thread.join(STOP_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch_present_roots()
            except Exception:
                # A root may vanish while the watch is set up, and the kernel may run out of watches: the rescan still works.
                _log.exception("watching the roots failed and is started again")
                self._stop.wait(RETRY_SECONDS)

    def _watch_present_roots(self) -> None:
        """Watch the roots that are there, until that changes."""
        present = _identities(self._registry.roots)
        for number, changes in enumerate(self._changes(present)):
            if number == 0:
                # The watch stands from here on; what happened before it did is found by comparing.
                self._registry.rescan()
                self._watching.set()
            self._apply(changes)
            self._look_at_settling()
            if _identities(self._registry.roots) != present:
                self._registry.rescan()
                return

    def _changes(self, present: dict[str, RootIdentity]) -> Iterator[set[FileChange]]:
        if not present:
            while not self._stop.is_set():
                yield set()
                self._stop.wait(LOOK_SECONDS)
            return
        yield from watch(
            *present,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=self._stop,
            rust_timeout=int(LOOK_SECONDS * 1000),
            yield_on_timeout=True,
            recursive=False,
            raise_interrupt=False,
        )

    def _apply(self, changes: Iterable[FileChange]) -> None:
        for root, names in _by_root(self._registry.roots, (path for _, path in changes)).items():
            for unit in self._registry.refresh_names(root, sorted(names)):
                self._settling[unit] = _Settling(time.monotonic() + SETTLE_FIRST_SECONDS, SETTLE_FIRST_SECONDS)

    def _look_at_settling(self) -> None:
        now = time.monotonic()
        due = [unit for unit, row in self._settling.items() if row.due <= now]
        if not due:
            return
        before = self._registry.snapshot.units
        self._registry.recheck(due)
        after = self._registry.snapshot.units
        for unit in due:
            row = self._settling[unit]
            pause = SETTLE_FIRST_SECONDS if before.get(unit) != after.get(unit) else row.pause * 2
            if pause > SETTLE_LAST_SECONDS or unit not in after:
                del self._settling[unit]
            else:
                self._settling[unit] = _Settling(now + pause, pause)

    def _rescan_now_and_then(self) -> None:
        while not self._stop.wait(self._rescan_seconds):
            try:
                self._registry.rescan()
            except Exception:
                _log.exception("a rescan of the roots failed; the next one comes in %s s", self._rescan_seconds)


def _identities(roots: Iterable[str]) -> dict[str, RootIdentity]:
    found = {}
    for root in roots:
        try:
            found[root] = identify(root)
        except OSError:
            continue
    return found


def _by_root(roots: Iterable[str], paths: Iterable[str]) -> dict[str, set[str]]:
    """Sort changed paths by root, as the names right below it."""
    names: dict[str, set[str]] = {}
    ordered = sorted(roots, key=len, reverse=True)
    for path in paths:
        for root in ordered:
            if path.startswith(root.rstrip("/") + "/"):
                name = path[len(root.rstrip("/")) + 1 :].partition("/")[0]
                if name == STATE_FOLDER:
                    # Whoever changes what is known of the root as a unit of its own gives its state a new time.
                    names.setdefault(root, set())
                elif name and name not in SKIPPED_FOLDERS:
                    names.setdefault(root, set()).add(name)
                break
    return names
