"""News as lines of a server's log, behind the hooks that plugins have too: who did what to which pack or skill.

What must be proved later is in the audit log, which is written before; a log line may get lost.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from market.hookspecs import hookimpl

if TYPE_CHECKING:
    from market.hookspecs import Target
    from market.model import Call, Caller, Outcome, Pack

_log = logging.getLogger("market.news")


class NewsLog:
    """Writes each piece of news as one line, with its parts as fields beside the sentence."""

    @hookimpl
    def skill_ran(self, target: Target | None, call: Call, outcome: Outcome) -> None:
        """Log how a call ended. Arguments and results aren't: they may hold what nobody else shall read."""
        fields = {
            "skill": call.key,
            "road": call.road,
            "outcome": str(outcome.kind),
            "duration_ms": outcome.duration_ms,
        }
        whose = {"pack": target.pack, "version": target.version} if target else {}
        _tell(f"{call.key} {outcome.kind}", call.caller, **fields, **whose)

    @hookimpl
    def pack_installed(
        self, pack: Pack, publisher: str, origin: str, root: str, action: str, old_version: str, caller: Caller
    ) -> None:
        """Log an install."""
        fields = {"publisher": publisher, "origin": origin, "root": root, "old_version": old_version}
        _tell(f"{action} {pack.name} {pack.version}", caller, pack=pack.name, version=str(pack.version), **fields)

    @hookimpl
    def pack_removed(self, name: str, version: str, root: str, caller: Caller) -> None:
        """Log an uninstall."""
        _tell(f"removed {name} {version}", caller, pack=name, version=version, root=root)

    @hookimpl
    def release_published(self, pack: Pack, publisher: str, filename: str, tree_digest: str) -> None:
        """Log a new file of a release."""
        fields = {"pack": pack.name, "version": str(pack.version), "file": filename, "tree_digest": tree_digest}
        _log.info("published %s %s", pack.name, pack.version, extra={**fields, "publisher": publisher})

    @hookimpl
    def release_yanked(self, name: str, version: str, publisher: str, reason: str, undone: bool) -> None:
        """Log a yank, or that one was taken back."""
        fields = {"pack": name, "version": version, "publisher": publisher, "reason": reason}
        _log.info("%s %s %s", "unyanked" if undone else "yanked", name, version, extra=fields)


def own_news() -> dict[str, object]:
    """Return Market's own implementation by name, for `load_plugins`."""
    return {"market-news": NewsLog()}


def _tell(sentence: str, caller: Caller, **fields: object) -> None:
    _log.info("%s", sentence, extra={**fields, "caller": caller.name, "role": str(caller.role)})
