"""Can this machine meet what a skill needs? Answers with what is missing, in words."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from market.model import Needs

REMEMBER_SECONDS = 5.0

_SYSTEM_NAMES = {"win32": "windows", "cygwin": "windows", "macos": "darwin", "mac": "darwin", "osx": "darwin"}


class Machine:
    """What this machine offers. A program that was looked up is looked up again after `REMEMBER_SECONDS`."""

    def __init__(self, environ: Mapping[str, str] | None = None, system: str = sys.platform) -> None:
        self._environ = os.environ if environ is None else environ
        self._system = _system_name(system)
        self._programs: dict[str, tuple[bool, float]] = {}

    def missing(self, *needs: Needs) -> tuple[str, ...]:
        """Return what is missing, each as a short phrase; empty where everything is there."""
        return tuple(dict.fromkeys(phrase for need in needs for phrase in self._missing(need)))

    def _missing(self, needs: Needs) -> Iterator[str]:
        if needs.os and self._system not in {_system_name(name) for name in needs.os}:
            yield f"the system {' or '.join(needs.os)} (this is {self._system})"
        yield from (f"the program {name!r} on PATH" for name in needs.bins if not self._has_program(name))
        yield from (f"the environment variable {name}" for name in needs.env if not self._environ.get(name))
        if needs.python and not _fits_python(needs.python):
            yield f"Python {needs.python} (this is {platform.python_version()})"

    def _has_program(self, name: str) -> bool:
        now = time.monotonic()
        known, until = self._programs.get(name, (False, 0.0))
        if now >= until:
            known = shutil.which(name, path=self._environ.get("PATH", "")) is not None
            self._programs[name] = known, now + REMEMBER_SECONDS
        return known


def _system_name(text: str) -> str:
    lowered = text.strip().lower()
    return _SYSTEM_NAMES.get(lowered, lowered)


def _fits_python(specifier: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return False
