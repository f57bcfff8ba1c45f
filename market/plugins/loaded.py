"""The plugins as one typed value: loaded once by each program, called implementation by implementation, so that a crash has a name.

What the hooks are is `market.hookspecs`; how one implementation is asked, and what its crash is, `market.plugins.answers`.
Decisions combine as `market.trust.decision` says.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from market.errors import PluginError
from market.plugins.answers import ask_for_decision, ask_for_findings, ask_for_offer, broken, tell
from market.plugins.find import check_plugin, find_entries, load_entry, make_manager
from market.plugins.offers import EXECUTORS, FETCHERS, PluggedExecutor, PluggedFetcher, check_offers, choose_offers
from market.trust.decision import Decision, combine

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from market.errors import Problem
    from market.hookspecs import Executor, Fetcher, Target
    from market.model import Call, Caller, Kind, Outcome, Pack
    from market.pack.source import Source
    from market.plugins.find import Implementation, PluginEntry
    from market.plugins.offers import Key, OfferShape


@dataclass(frozen=True, slots=True)
class FoundPlugin:
    """One installed plugin: `active`, `disabled`, or `broken` with the reason."""

    name: str
    distribution: str
    version: str
    state: str
    hooks: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Plugins:
    """The implementations that one program calls, by hook. `load_plugins` makes it. Its methods are the hooks; see their specs.

    `for_outsiders`: who reads what plugins answer doesn't operate this machine, as on an index.
    """

    implementations: Mapping[str, tuple[Implementation, ...]] = field(default_factory=dict)
    for_outsiders: bool = False

    def register_executors(self, environment: Mapping[str, str]) -> dict[Kind, Executor]:
        """Return what runs each kind of skill. Raises `PluginError` where a plugin crashes or two offer the same kind."""
        return self._choose("register_executors", {"environment": environment}, EXECUTORS, PluggedExecutor)

    def register_fetchers(self) -> dict[str, Fetcher]:
        """Return what fetches from each scheme. Raises `PluginError` where a plugin crashes or two offer the same scheme."""
        return self._choose("register_fetchers", {}, FETCHERS, PluggedFetcher)

    def scan_pack(self, pack: Pack, source: Source, act: str) -> tuple[Problem, ...]:
        """Return the findings of all scans. Each finding's rule begins with the plugin's name, but for Market's own."""
        values = {"pack": pack, "source": source, "act": act}
        asked = [ask_for_findings(one, values, for_outsiders=self.for_outsiders) for one in self._of("scan_pack")]
        return tuple(finding for findings in asked for finding in findings)

    def decide_install(self, pack: Pack, publisher: str, origin: str, root: str, caller: Caller) -> Decision:
        """Decide whether a pack may be installed."""
        values = {"pack": pack, "publisher": publisher, "origin": origin, "root": root, "caller": caller}
        return self._decide("decide_install", values)

    def decide_run(self, target: Target, call: Call, arguments: Mapping[str, object]) -> Decision:
        """Decide whether a call may be made."""
        return self._decide("decide_run", {"target": target, "call": call, "arguments": arguments})

    def decide_publish(self, pack: Pack, publisher: str, owner: str) -> Decision:
        """Decide whether a release may be made."""
        return self._decide("decide_publish", {"pack": pack, "publisher": publisher, "owner": owner})

    def pack_installed(
        self,
        pack: Pack,
        publisher: str,
        origin: str,
        root: str,
        action: str,
        old_version: str,
        caller: Caller,
        at: datetime,
    ) -> None:
        """Tell that a pack was installed."""
        values = {"pack": pack, "publisher": publisher, "origin": origin, "root": root}
        self._tell(
            "pack_installed", {**values, "action": action, "old_version": old_version, "caller": caller, "at": at}
        )

    def pack_removed(self, name: str, version: str, root: str, caller: Caller, at: datetime) -> None:
        """Tell that a pack was uninstalled."""
        self._tell("pack_removed", {"name": name, "version": version, "root": root, "caller": caller, "at": at})

    def skill_ran(self, target: Target | None, call: Call, arguments_text: str, outcome: Outcome, at: datetime) -> None:
        """Tell that an attempt to run a skill has ended."""
        values = {"target": target, "call": call, "arguments_text": arguments_text, "outcome": outcome, "at": at}
        self._tell("skill_ran", values)

    def release_published(self, pack: Pack, publisher: str, filename: str, tree_digest: str, at: datetime) -> None:
        """Tell that a release was made, or got another file."""
        values = {"pack": pack, "publisher": publisher, "filename": filename, "tree_digest": tree_digest, "at": at}
        self._tell("release_published", values)

    def release_yanked(
        self, name: str, version: str, publisher: str, reason: str, *, undone: bool, at: datetime
    ) -> None:
        """Tell that a release was yanked, or that a yank was taken back."""
        values = {"name": name, "version": version, "publisher": publisher, "reason": reason}
        self._tell("release_yanked", {**values, "undone": undone, "at": at})

    def _of(self, hook: str) -> tuple[Implementation, ...]:
        return self.implementations.get(hook, ())

    def _choose(
        self, hook: str, values: Mapping[str, Any], shape: OfferShape[Key], plug: Callable[[str, Any], Any]
    ) -> dict[Key, Any]:
        asked = [
            (one, ask_for_offer(one, values, lambda one, answer: check_offers(shape, one, answer)))
            for one in self._of(hook)
        ]
        return choose_offers(asked, plug)

    def _decide(self, hook: str, values: Mapping[str, Any]) -> Decision:
        asked = [(one.own, ask_for_decision(one, values, for_outsiders=self.for_outsiders)) for one in self._of(hook)]
        return combine((given for own, given in asked if own), (given for own, given in asked if not own))

    def _tell(self, hook: str, values: Mapping[str, Any]) -> None:
        for one in self._of(hook):
            tell(one, values)


def load_plugins(
    own: Mapping[str, object] | None = None,
    *,
    entry_points: Iterable[PluginEntry] | None = None,
    disabled: Collection[str] = (),
    for_outsiders: bool = False,
) -> Plugins:
    """Load Market's own implementations (by name) and those of the installed plugins that aren't disabled.

    `entry_points` are those of this environment where none are given; `for_outsiders` as in `Plugins`. Raises `PluginError`, naming the
    plugin, where one can't be imported, is spelt wrong or has the name of another: a policy that is silently absent would be worse than
    a stop.
    """
    manager = make_manager()
    entries = [
        entry for entry in (find_entries() if entry_points is None else entry_points) if entry.name not in disabled
    ]
    _check_distinct(entries, own or {})
    found = [one for name, plugin in (own or {}).items() for one in check_plugin(manager, name, plugin, own=True)]
    found += [one for entry in entries for one in load_entry(manager, entry)]
    by_hook = {hook: tuple(one for one in found if one.hook == hook) for hook in {one.hook for one in found}}
    return Plugins(by_hook, for_outsiders)


def describe_plugins(entry_points: Iterable[PluginEntry], disabled: Collection[str]) -> tuple[FoundPlugin, ...]:
    """Say of each plugin how it stands; one that is broken is a row like the others. A disabled one isn't imported."""
    return tuple(_describe(entry, is_disabled=entry.name in disabled) for entry in entry_points)


def _describe(entry: PluginEntry, *, is_disabled: bool) -> FoundPlugin:
    row = FoundPlugin(entry.name, entry.distribution, entry.version, "disabled" if is_disabled else "active")
    if is_disabled:
        return row
    try:
        found = load_entry(make_manager(), entry)
    except PluginError as error:
        return replace(row, state="broken", trouble=error.why)
    return replace(row, hooks=tuple(one.hook for one in found))


def _check_distinct(entries: Sequence[PluginEntry], own: Collection[str]) -> None:
    seen = dict.fromkeys(own, "Market itself")
    for entry in entries:
        if entry.name in seen:
            raise broken(entry.name, f"{seen[entry.name]} has a plugin of this name too", entry.distribution)
        seen[entry.name] = entry.distribution
