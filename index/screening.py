"""Whether a new file may become part of a release, as plugins and the index's own rule see it; and telling them that it has.

That the file is good is known by then, and whose the name is, is looked at again in the transaction (`index.commit`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from index.store.releases import find_pack
from market.errors import InvalidInput, Refused, Severity
from market.hookspecs import ACT_PUBLISH, hookimpl
from market.news_log import own_news
from market.own_scan import own_scan
from market.pack.secrets import without_allowed
from market.plugins.loaded import load_plugins
from market.plugins.stops import Stop, find_stop
from market.trust.decision import Decision, allow, deny

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from index.commit import Deed
    from index.store.database import Database
    from market.errors import Problem
    from market.model import Pack
    from market.names import PackName
    from market.pack.source import Source
    from market.plugins.find import PluginEntry
    from market.plugins.loaded import Plugins

STOPPING = frozenset(Severity) - {Severity.WARNING}


@dataclass(frozen=True, slots=True)
class Screened:
    """A file that arrived: the pack in it and its tree. An sdist has no tree, and a pack without skills."""

    filename: str
    pack: Pack
    source: Source | None = None


class OwnPublishing:
    """The index's own rule of publishing, as a plugin."""

    @hookimpl
    def decide_publish(self, pack: Pack, publisher: str, owner: str) -> Decision:
        """Let a publisher make releases of the names that it has, and of free ones."""
        return decide_by_owner(pack.name, publisher, owner)


def own_publishing() -> dict[str, object]:
    """Return the index's own implementations by name, for `load_plugins`."""
    return {"market-publishing": OwnPublishing(), **own_scan(), **own_news()}


def load_publishing(entry_points: Iterable[PluginEntry] | None = None, disabled: Collection[str] = ()) -> Plugins:
    """Load what an index asks and tells, as `load_plugins`: publishers don't operate it."""
    return load_plugins(own_publishing(), entry_points=entry_points, disabled=disabled, for_outsiders=True)


def decide_by_owner(name: PackName, publisher: str, owner: str) -> Decision:
    """Decide by whose the name is; `owner` is empty for a free name."""
    if owner in ("", publisher):
        return allow(f"the name {name!r} is {'its own' if owner else 'free'}")
    return deny(f"the name {name!r} belongs to the publisher {owner!r}")


def screen(database: Database, sent: Screened, deed: Deed) -> tuple[Problem, ...]:
    """Ask whether a new file may be published and scan it; returns the findings that stop nothing.

    Raises `Refused` with the reasons of those who deny, and `InvalidInput` with every finding where one stops a publish.
    """
    pack = sent.pack
    with database.read() as connection:
        known = find_pack(connection, pack.name)
    decision = deed.plugins.decide_publish(pack, deed.account.publisher, known.publisher if known else "")
    if not decision.allowed:
        raise Refused(
            f"{pack.name} {pack.version} may not be published here",
            why=decision.reason,
            hint="ask the index's operator",
            details={"name": pack.name, "version": str(pack.version)},
        )
    seen = deed.plugins.scan_pack(pack, sent.source, ACT_PUBLISH) if sent.source else ()
    findings = without_allowed(seen, deed.allowed_secrets)
    if stop := find_stop(findings, STOPPING):
        raise _found(pack, findings, stop)
    return findings


def tell_published(sent: Screened, tree_digest: str, deed: Deed) -> None:
    """Tell plugins of a file that is published now."""
    deed.plugins.release_published(sent.pack, deed.account.publisher, sent.filename, tree_digest, deed.now)


def _found(pack: Pack, findings: Sequence[Problem], stop: Stop) -> InvalidInput:
    return InvalidInput(
        f"{pack.name} {pack.version} can't be published",
        why=stop.why("it"),
        hint=stop.hint("ask whoever operates the index", "correct what the findings name, and publish it again"),
        problems=findings,
    )
