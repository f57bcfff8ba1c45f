"""Can this machine meet what a pack or skill needs? Answers with what it lacks, in words, and how to get it."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
import threading
import time
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import sys_tags

from market.model import Needs
from market.pack.wheel_wanted import find_unmet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from market.model import Brought, Wanted

REMEMBER_SECONDS = 5.0
REMEMBER_HOST_SECONDS = 60.0
HOST_LOOKUP_SECONDS = 1.0
"""How long the lookup of one host name may take; after one that took longer the next ones get a tenth of it."""

MAX_SHOWN_TAGS = 3

FATAL_KINDS = frozenset({"os", "python", "tags"})
"""What nobody can provide later: such a pack isn't installed at all."""

MAX_JUDGED = 1024
"""How many trees' requirements are remembered as judged."""

REINSTALL = "reinstall it with this Python, so that what it depends on is fetched for it"
_BRING_ANOTHER = (
    f"use the Python and system for which it was put together; or put it together for these, with Python {platform.python_version()}: "
    "`market export` makes such a file where its package index can be reached"
)
# What nobody provides later; see `FATAL_KINDS`.
_LASTING = ("os", "python", "tags", "brought", "wanted")
_NOTHING = Needs()

_SYSTEM_NAMES = {"win32": "windows", "cygwin": "windows", "macos": "darwin", "mac": "darwin", "osx": "darwin"}


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is needed and isn't here. `kind` is os, python, tags, bins, env or hosts; `advice` says how to get it.

    `advice_before` says it to who hasn't installed the pack yet, where that is something else.
    """

    kind: str
    name: str
    text: str
    advice: str
    advice_before: str = ""

    @property
    def is_fatal(self) -> bool:
        """Whether nobody can provide it on this machine."""
        return self.kind in FATAL_KINDS


def parse_needs(values: Mapping[str, Any]) -> Needs:
    """Return the needs that an index's document lists; what isn't text counts as no need."""
    lists = {key: values.get(key) for key in ("os", "bins", "env", "hosts", "any_bins", "config", "tags")}
    texts = {
        key: tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | tuple) else ()
        for key, value in lists.items()
    }
    python = values.get("python")
    return Needs(python=python if isinstance(python, str) else "", brought=(), wanted=(), **texts)


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
        markers: Mapping[str, str] | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._system = _system_name(system)
        self._resolve = resolve
        self._markers = None if markers is None else tuple(sorted(markers.items()))
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
        return tuple(lack.text for lack in self.never(parse_needs(needs)))

    def never(self, *needs: Needs) -> tuple[Lack, ...]:
        """Return what nobody can provide here. Nothing else is looked for, so no program, variable or host."""
        return self.lacks(*(replace(_NOTHING, **{name: getattr(one, name) for name in _LASTING}) for one in needs))

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
        if needs.tags and not _fits_tags(needs.tags):
            text = f"a Python and system for {_shown(needs.tags)} (this is {_own_tag()})"
            yield Lack(
                "tags", " ".join(needs.tags), text, f"take a release with a wheel for any Python, or for {_own_tag()}"
            )
        for one in needs.brought:
            yield from _lacks_of_brought(one)
        for row in _find_unmet(needs.wanted, self._markers) if needs.wanted else ():
            yield _lack_of_wanted(row)
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


def _lacks_of_brought(brought: Brought) -> Iterator[Lack]:
    """What lies beside a wheel was chosen for the Python and system that installed it."""
    if brought.tags and not _fits_tags(brought.tags):
        text = f"a Python and system for {_shown(brought.tags)}, since it brings {brought.name} (this is {_own_tag()})"
        yield Lack("tags", brought.name, text, REINSTALL, _BRING_ANOTHER)
    if brought.python and not _fits_python(brought.python):
        text = f"Python {brought.python}, since it brings {brought.name} (this is {platform.python_version()})"
        yield Lack("python", brought.name, text, REINSTALL, _BRING_ANOTHER)


def _lack_of_wanted(wanted: Wanted) -> Lack:
    there = f"{wanted.name} {wanted.there}" if wanted.there else "none"
    text = f"{wanted.text}, on which {wanted.by} depends under this Python and system (it brings {there})"
    return Lack("python", wanted.text, text, REINSTALL, _BRING_ANOTHER)


@lru_cache(maxsize=MAX_JUDGED)
def _find_unmet(wanted: tuple[Wanted, ...], markers: tuple[tuple[str, str], ...] | None) -> tuple[Wanted, ...]:
    """Judge what a tree wants: once, since every load asks again. None are the markers of this machine."""
    return find_unmet(wanted, _own_markers() if markers is None else dict(markers))


@cache
def _own_markers() -> Mapping[str, str]:
    # Few trees ask, and their requirements' parser has loaded it already.
    from packaging.markers import default_environment

    return {name: str(value) for name, value in default_environment().items()}


def _shown(tags: tuple[str, ...]) -> str:
    more = len(tags) - MAX_SHOWN_TAGS
    return " or ".join(tags[:MAX_SHOWN_TAGS]) + (f" and {more} more" if more > 0 else "")


def _fits_tags(tags: tuple[str, ...]) -> bool:
    return any(_fits_tag(tag) for tag in tags)


def _fits_tag(tag: str) -> bool:
    """Whether one tag, which may stand for several (`py2.py3-none-any`), is one that this Python takes."""
    parts = [frozenset(part.split(".")) for part in tag.lower().split("-")]
    if len(parts) != 3:
        return False
    # What it stands for isn't spelled out: that may be more than fits into the memory.
    pythons, abis, systems = parts
    return any(one[0] in pythons and one[1] in abis and one[2] in systems for one in _own_tags())


def _own_tag() -> str:
    return "-".join(_own_tags()[0])


@cache
def _own_tags() -> tuple[tuple[str, str, str], ...]:
    """Return what this Python takes, the best first: some 900, asked for only where a pack isn't made for all."""
    return tuple((one.interpreter, one.abi, one.platform) for one in sys_tags())


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
