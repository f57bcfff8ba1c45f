"""Can this machine meet what a pack or skill needs? Answers with what it lacks, in words, and how to get it."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from market.model import Needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REMEMBER_SECONDS = 5.0
REMEMBER_HOST_SECONDS = 60.0
HOST_LOOKUP_SECONDS = 1.0
"""How long the lookup of one host name may take; after one that took longer the next ones get a tenth of it."""

FATAL_KINDS = frozenset({"os", "python"})
"""What nobody can provide later: such a pack isn't installed at all."""

_SYSTEM_NAMES = {"win32": "windows", "cygwin": "windows", "macos": "darwin", "mac": "darwin", "osx": "darwin"}


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is needed and isn't here. `kind` is os, python, bins, env or hosts; `advice` says how to get it."""

    kind: str
    name: str
    text: str
    advice: str

    @property
    def is_fatal(self) -> bool:
        """Whether nobody can provide it on this machine."""
        return self.kind in FATAL_KINDS


def load_needs(values: Mapping[str, Any]) -> Needs:
    """Return the needs that an index's document lists; what isn't text counts as no need."""
    lists = {key: values.get(key) for key in ("os", "bins", "env", "hosts", "any_bins", "config")}
    texts = {
        key: tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()
        for key, value in lists.items()
    }
    python = values.get("python")
    return Needs(python=python if isinstance(python, str) else "", **texts)


def can_resolve(host: str) -> bool:
    """Whether a host's name leads to an address. Whether anybody answers there is seen when the skill runs."""
    try:
        socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return True


class Machine:
    """What this machine offers. What was looked up is looked up again after `REMEMBER_SECONDS` (a host: `REMEMBER_HOST_SECONDS`)."""

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        system: str = sys.platform,
        resolve: Callable[[str], bool] = can_resolve,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._system = _system_name(system)
        self._resolve = resolve
        self._programs: dict[str, tuple[bool, float]] = {}
        self._hosts: dict[str, tuple[bool, float]] = {}
        self._slow_until = 0.0

    def missing(self, *needs: Needs) -> tuple[str, ...]:
        """Return what is missing, each as a short phrase; empty where everything is there."""
        return tuple(lack.text for lack in self.lacks(*needs))

    def lacks(self, *needs: Needs) -> tuple[Lack, ...]:
        """Return what is missing, each once, in the order system, programs, environment, Python, hosts."""
        return tuple(dict.fromkeys(lack for need in needs for lack in self._lacks(need)))

    def find_unmet(self, needs: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which needs, as an index's document lists them, can never be met here: another system, another Python."""
        read = load_needs(needs)
        return self.missing(Needs(os=read.os, python=read.python))

    def _lacks(self, needs: Needs) -> Iterator[Lack]:
        if needs.os and self._system not in {_system_name(name) for name in needs.os}:
            names = " or ".join(needs.os)
            yield Lack("os", names, f"the system {names} (this is {self._system})", f"use it on a machine with {names}")
        for name in needs.bins:
            if not self._has_program(name):
                yield Lack("bins", name, f"the program {name!r} on PATH", f"install {name}, where PATH finds it")
        if needs.any_bins and not any(self._has_program(name) for name in needs.any_bins):
            names = " or ".join(needs.any_bins)
            yield Lack("bins", names, f"one of the programs {names} on PATH", f"install {names}, where PATH finds it")
        for name in needs.env:
            if not self._environ.get(name):
                advice = f"set {name} where the skill is run: in the host's environment"
                yield Lack("env", name, f"the environment variable {name}", advice)
        if needs.python and not _fits_python(needs.python):
            text = f"Python {needs.python} (this is {platform.python_version()})"
            yield Lack("python", needs.python, text, f"run Market with Python {needs.python}")
        for name in needs.hosts:
            if not self._has_host(name):
                yield Lack(
                    "hosts",
                    name,
                    f"the host {name}, which can't be found",
                    f"let this machine resolve and reach {name}",
                )

    def _has_program(self, name: str) -> bool:
        now = time.monotonic()
        known, until = self._programs.get(name, (False, 0.0))
        if now >= until:
            known = shutil.which(name, path=self._environ.get("PATH", "")) is not None
            self._programs[name] = known, now + REMEMBER_SECONDS
        return known

    def _has_host(self, name: str) -> bool:
        now = time.monotonic()
        known, until = self._hosts.get(name, (False, 0.0))
        if now >= until:
            known = self._look_up(_host_of(name), now)
            self._hosts[name] = known, now + REMEMBER_HOST_SECONDS
        return known

    def _look_up(self, host: str, now: float) -> bool:
        """Look a name up, but not for ever: the system's resolver may take a minute, and a load must not."""
        found: list[bool] = []
        thread = threading.Thread(target=lambda: found.append(self._resolve(host)), daemon=True)
        thread.start()
        thread.join(HOST_LOOKUP_SECONDS if now >= self._slow_until else HOST_LOOKUP_SECONDS / 10)
        if not found:
            self._slow_until = time.monotonic() + REMEMBER_HOST_SECONDS
        return bool(found and found[0])


def _system_name(text: str) -> str:
    lowered = text.strip().lower()
    return _SYSTEM_NAMES.get(lowered, lowered)


def _host_of(text: str) -> str:
    """Return the name in `name`, `name:port` or `https://name/path`."""
    bare = text.partition("://")[2] or text
    return bare.partition("/")[0].rpartition("@")[2].partition(":")[0]


def _fits_python(specifier: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(platform.python_version(), prereleases=True)
    except InvalidSpecifier:
        return False
